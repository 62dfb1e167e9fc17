import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { type MatrixStore, overMatrix } from "../../matrix/open.ts";
import { Random } from "../../simulator/world/random.ts";

const AT = Date.UTC(2026, 1, 28, 23, 58);
const MINUTE_MS = 60_000;
const dimensions = ["site", "lane"];
const SITES = ["S1", "", "ü|%\n7c ", "s1"];

interface Known {
  site: string;
  lane: string;
  at: number;
  count: number;
}
const lengths = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: 1440 * MINUTE_MS };

const textOf = ({ values }: { values: Readonly<Record<string, string>> }) => `${Object.values(values)}`;

/** What `read` has to say of events, by its definition. */
function rowsOf(events: readonly Known[], bucket: keyof typeof lengths) {
  const sums = new Map<string, bigint>();
  for (const { site, lane, at, count } of events) {
    const key = JSON.stringify([Math.floor(at / lengths[bucket]) * lengths[bucket], site, lane]);
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(count));
  }
  return [...sums]
    .map(([key, count]) => {
      const [startMs, ...values] = JSON.parse(key) as [number, string, string];
      return { bucket, startMs, values: { site: values[0]!, lane: values[1]! }, count };
    })
    .sort((a, b) => a.startMs - b.startMs || (textOf(a) < textOf(b) ? -1 : 1));
}
const sorted = <Row extends { startMs: number; values: Readonly<Record<string, string>> }>(rows: Row[]) =>
  rows.sort((a, b) => a.startMs - b.startMs || (textOf(a) < textOf(b) ? -1 : 1));

overMatrix("counters", (name, open) =>
  describe(`counters, ${name}`, () => {
    let opened: MatrixStore;
    const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
    const random = new Random(seed);
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened.clear());
    // A counter looks later whether the store has lost what it had acknowledged, and would give it to the next test.
    const made: Counters[] = [];
    afterEach(() => Promise.all(made.splice(0).map((each) => each.close())));
    afterAll(() => opened?.close());
    const counters = (options = {}) => {
      const one = new Counters(opened.store, "flow", { dimensions, ...opened.modes, ...options });
      made.push(one);
      return one;
    };
    const event = (): Known => ({
      site: random.pick(SITES),
      lane: random.pick(["1", "2"]),
      at: AT + random.int(0, 5 * MINUTE_MS) - (random.chance(0.1) ? 1440 * MINUTE_MS : 0),
      count: random.chance(0.1) ? Number.MAX_SAFE_INTEGER - 5 : 1 + random.int(0, 2),
    });

    test(`random events are read back as counted by brute force (seed ${seed})`, async () => {
      const events = Array.from({ length: 500 }, event);
      const two = [counters(), counters()];
      await Promise.all(events.map(({ site, lane, at, count }, i) => two[i % 2]!.add({ site, lane }, { at, count })));
      for (const bucket of ["minute", "hour", "day"] as const)
        expect(sorted(await two[0]!.read({ bucket, bigint: true }))).toEqual(rowsOf(events, bucket));
      const from = AT + MINUTE_MS;
      const rows = await two[1]!.read({ from, to: AT + 3 * MINUTE_MS, values: { site: "" }, bigint: true });
      const wanted = rowsOf(events, "minute").filter(
        ({ startMs, values }) => values.site === "" && startMs >= from && startMs < AT + 3 * MINUTE_MS,
      );
      expect(sorted(rows)).toEqual(wanted);
    });

    test("an event without a time is in the current minute", async () => {
      const before = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
      await counters().add({ site: "a", lane: "b" });
      const [row, ...none] = await counters().read();
      expect(none).toEqual([]);
      expect(row).toMatchObject({ bucket: "minute", values: { site: "a", lane: "b" }, count: 1 });
      expect([before, before + MINUTE_MS]).toContain(row!.startMs);
    });

    test("a number in place of options is the count", async () => {
      const flow = counters();
      await Promise.all([flow.add({ site: "a", lane: "b" }, 5), flow.add({ site: "a", lane: "b" }, 2)]);
      expect((await flow.read({ bucket: "day" })).reduce((sum, { count }) => sum + count, 0)).toBe(7);
      for (const count of [0, -1, 1.5, 2 ** 53, Number.NaN])
        await expect(flow.add({ site: "a", lane: "b" }, count)).rejects.toMatchObject({ code: "ARGUMENT" });
    });

    test("a count above 2^53 - 1 is TOO_LARGE as a number, and exact as a bigint", async () => {
      const flow = counters();
      const large = { at: AT, count: Number.MAX_SAFE_INTEGER };
      await flow.add({ site: "a", lane: "b" }, large);
      expect((await flow.read()).map(({ count }) => count)).toEqual([Number.MAX_SAFE_INTEGER]);
      await flow.add({ site: "a", lane: "b" }, { at: new Date(AT), count: 1 });
      await expect(flow.read()).rejects.toMatchObject({ code: "TOO_LARGE", applied: "no" });
      await expect(flow.read()).rejects.toThrow(
        /count of site "a", lane "b" in the minute from .* is 9007199254740992,/,
      );
      expect((await flow.read({ bigint: true })).map(({ count }) => count)).toEqual([2n ** 53n]);
    });

    test("a source replayed in other batches by two processes counts each event once", async () => {
      const events = Array.from({ length: 300 }, event);
      const owners = [counters(), counters(), counters()];
      const give = async (owner: Counters, from: number, length: number) => {
        const part = events.slice(from, from + length);
        await owner.addBatch(
          "kafka:0",
          BigInt(from),
          part.map(({ site, lane, at, count }) => ({ values: { site, lane }, at, count })),
        );
      };
      for (let from = 0; from < 200; from += 40) await give(owners[0]!, from, 40);
      await Promise.all(
        [1, 2].map(async (i) => {
          for (let from = 30 * i; from < 300; from += 17 + i) await give(owners[i]!, from, 17 + i);
        }),
      );
      await give(owners[0]!, 0, 300);
      expect(sorted(await owners[0]!.read({ bigint: true }))).toEqual(rowsOf(events, "minute"));
    });

    test("offsets of a source may have gaps, and sources are independent", async () => {
      const flow = counters();
      const one = [{ values: { site: "a", lane: "1" }, at: AT }];
      const two = [...one, ...one];
      await flow.addBatch("s:0", [5, 2n ** 100n], two);
      await flow.addBatch("s:0", [5n, 7n, 2n ** 100n + 1n], [...two, ...one]);
      await flow.addBatch("s:1", 7, one);
      expect((await flow.read()).map(({ count }) => count)).toEqual([4]);
    });

    test("a process with another layout is refused, and nothing is written", async () => {
      await counters().add({ site: "a", lane: "1" }, { at: AT });
      const other = counters({ buckets: ["hour"] });
      await expect(other.add({ site: "a", lane: "1" }, { at: AT })).rejects.toMatchObject({
        code: "MISMATCH",
        applied: "no",
      });
      await expect(other.read()).rejects.toMatchObject({ code: "MISMATCH" });
      expect((await counters().read()).map(({ count }) => count)).toEqual([1]);
    });

    test("wrong arguments are refused by name before anything is written", async () => {
      const flow = counters();
      const at = AT;
      const wrong: [RegExp, () => Promise<unknown>][] = [
        [/^lane is undefined/, () => flow.add({ site: "a" })],
        [/^lane is 1;/, () => flow.add({ site: "a", lane: 1 as never })],
        [/^dimension is "colour"/, () => flow.add({ site: "a", lane: "b", colour: "red" })],
        [/^site is .*surrogate/, () => flow.add({ site: "\ud800", lane: "b" })],
        [/^site is .*at most 255 characters/, () => flow.add({ site: "x".repeat(256), lane: "b" })],
        [/^lane is .*without NUL/, () => flow.add({ site: "a", lane: "\0" })],
        [/^count is 0/, () => flow.add({ site: "a", lane: "b" }, { count: 0 })],
        [/^count is 1.5/, () => flow.add({ site: "a", lane: "b" }, { count: 1.5 })],
        [/^count is 9007199254740992/, () => flow.add({ site: "a", lane: "b" }, { count: 2 ** 53 })],
        [/^at is -1000000000000000;/, () => flow.add({ site: "a", lane: "b" }, { at: -1e15 })],
        [/^at is NaN/, () => flow.add({ site: "a", lane: "b" }, { at: Number.NaN })],
        [/^source is "a b"/, () => flow.addBatch("a b", 0, [])],
        [/^offset is -1/, () => flow.addBatch("a", -1, [{ values: { site: "a", lane: "b" }, at }])],
        [
          /^offset is 3; it must be above/,
          () =>
            flow.addBatch(
              "a",
              [3, 3],
              [
                { values: { site: "a", lane: "b" }, at },
                { values: { site: "a", lane: "b" }, at },
              ],
            ),
        ],
        [/^bucket is "week"/, () => flow.read({ bucket: "week" as never })],
        [/^dimension of values is "colour"/, () => flow.read({ values: { colour: "red" } })],
      ];
      for (const [message, run] of wrong)
        await expect(run(), String(message)).rejects.toMatchObject({
          code: "ARGUMENT",
          message: expect.stringMatching(message.source.replace("^", "(^|: )")),
        });
      expect(await flow.read()).toEqual([]);
    });
  }),
);
