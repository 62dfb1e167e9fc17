import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { shape } from "../../../src/counters/counter/agreement.ts";
import { Counters, targetOf } from "../../../src/counters/counter/counters.ts";
import type { CountersOptions } from "../../../src/counters/counter/options.ts";
import { look } from "../../../src/counters/counter/steps/reads.ts";
import { setAside } from "../../../src/counters/counter/steps/repairs.ts";
import { CountersDoctor } from "../../../src/counters/drain/doctor.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import type { Store } from "../../../src/store/contract.ts";
import { TableSink } from "../../fuzz/table-sink.ts";
import { type MatrixStore, overMatrix } from "../../matrix/open.ts";
import { Random } from "../../simulator/world/random.ts";
import { turn } from "../../simulator/world/world.ts";

const AT = Date.UTC(2026, 1, 28, 23, 58);
const OWN: CountersOptions = { dimensions: ["site", "lane"], shards: 8 };
const OTHERS: Record<string, CountersOptions> = {
  "more shards": { ...OWN, shards: 16 },
  "fewer shards": { ...OWN, shards: 3 },
  "another order": { ...OWN, dimensions: ["lane", "site"] },
  "another dimension": { ...OWN, dimensions: ["site", "colour"] },
  "a dimension less": { ...OWN, dimensions: ["site"] },
  "a dimension more": { ...OWN, dimensions: ["site", "lane", "colour"] },
  "another finest bucket": { ...OWN, buckets: ["hour"] },
  "another time zone": { ...OWN, timeZone: "Europe/Berlin" },
};
const mismatch = { code: "MISMATCH", applied: "no", structure: "Counters" };
const valuesOf = ({ dimensions }: CountersOptions, value: string) =>
  Object.fromEntries(dimensions.map((name) => [name, value]));

/** The store, in which no step of this name begins before `release`. */
function holding(store: Store, name: string): { store: Store; release: () => void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const run: Store["run"] = async (operation, key, input, options) => {
    if (operation.name === name) await released;
    return store.run(operation, key, input, options);
  };
  const get = (target: Store, member: keyof Store) => {
    const own = target[member];
    return member === "run" ? run : typeof own === "function" ? own.bind(target) : own;
  };
  return { store: new Proxy(store, { get } as ProxyHandler<Store>), release };
}

overMatrix("counters", (name, open) =>
  describe(`the layout of counters, ${name}`, () => {
    let opened: MatrixStore;
    const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
    const random = new Random(seed);
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened.clear());
    afterAll(() => opened?.close());
    const counters = (options: CountersOptions, process = "flow") =>
      new Counters(opened.store, process, { ...opened.modes, ...options });

    test(`a second layout is always refused before it counts anything (seed ${seed})`, async () => {
      const accepted: string[] = [];
      const tries = Array.from({ length: 50 }, async (_, i) => {
        const flow = counters(OWN, `flow${i}`);
        await flow.add({ site: `${random.int(0, 99)}`, lane: "1" }, { at: AT });
        const [kind, options] = random.pick(Object.entries(OTHERS));
        const other = counters(options, `flow${i}`);
        const values = valuesOf(options, `${random.int(0, 99)}`);
        const ways = [() => other.add(values, { at: AT }), () => other.addBatch("source", 1, [{ values, at: AT }])];
        const ends = await Promise.allSettled([random.pick(ways)(), other.add(values, { at: AT })]);
        for (const end of ends)
          if (end.status === "fulfilled") accepted.push(`${i}: ${kind}`);
          else expect(end.reason).toMatchObject(mismatch);
        await expect(other.read()).rejects.toMatchObject(mismatch);
        expect((await flow.read()).map(({ count }) => count)).toEqual([1]);
      });
      await Promise.all(tries);
      expect(accepted).toEqual([]);
    });

    test.each([
      ["Asia/Kolkata", "Asia/Calcutta"],
      ["UTC", "utc"],
      ["GMT", "UTC"],
    ])("%s and %s are one zone: processes count, replay, read, drain and repair together", async (first, second) => {
      // Processes of other tests send to other counters.
      const made: Counters[] = [];
      const process = (options: Partial<CountersOptions>) => {
        made.push(counters({ ...OWN, ...options }, `${first} ${second}`));
        return made.at(-1)!;
      };
      const [one, two] = [first, second].map((timeZone) => process({ timeZone }));
      const event = (site: string) => ({ values: { site, lane: "1" }, at: AT });
      await one!.add(event("a").values, { at: AT });
      const total = async (each: Counters) => (await each.read()).reduce((sum, { count }) => sum + count, 0);
      expect(await total(process({ timeZone: second }))).toBe(1);
      await Promise.all([two!.add(event("b").values, { at: AT }), two!.addBatch("source", 1, [event("c")])]);
      expect([await total(one!), await total(two!)]).toEqual([3, 3]);
      // One added dimension more is still the same zone.
      const more = process({ timeZone: second, addedDimensions: ["colour"] });
      await more.add({ ...event("d").values, colour: "red" }, { at: AT });
      expect(await total(more)).toBe(4);
      const sink = new TableSink();
      const doctor = new CountersDoctor(process({ timeZone: second, addedDimensions: ["colour"] }), sink);
      expect(await doctor.layout()).toMatchObject({ verdict: "fits" });
      expect(new Set((await doctor.diagnose()).map(({ verdict }) => verdict))).toEqual(new Set(["fits"]));
      const drained = process({ timeZone: second, addedDimensions: ["colour"] });
      await new DrainService({ counters: drained, sink }).drainOnce();
      expect((await drained.read({ table: sink })).reduce((sum, { count }) => sum + count, 0)).toBe(4);
      await Promise.all(made.map((each) => each.close()));
    });

    test("two processes that start at once with two names of a zone count together", async () => {
      const pairs = Array.from({ length: 10 }, (_, i) =>
        ["Asia/Kolkata", "Asia/Calcutta"].map((timeZone) => counters({ ...OWN, timeZone }, `start${i}`)),
      );
      const values = { site: "a", lane: "1" };
      await Promise.all(pairs.flat().map((each) => each.add(values, { at: AT })));
      for (const [one] of pairs) expect((await one!.read()).map(({ count }) => count)).toEqual([2]);
      await Promise.all(pairs.flat().map((each) => each.close()));
    });

    test("events added while the layout is requested count once, in the correct rows", async () => {
      const { store, release } = holding(opened.store, shape.name);
      const flow = new Counters(store, "flow", { ...opened.modes, ...OWN });
      const counted: Promise<void>[] = [];
      // Each round is a turn later, when what came before it is on its way to be sent.
      for (let round = 0; round < 6; round++) {
        for (let lane = 0; lane < 12; lane++)
          counted.push(flow.add({ site: "a", lane: `${lane}` }, { at: AT + (round % 3) * 60_000, count: 1 + round }));
        await turn();
      }
      release();
      await Promise.all(counted);
      const rows = (await flow.read()).map(({ startMs, values, count }) => `${startMs - AT} ${values.lane} ${count}`);
      // Minute 0 has rounds 0 and 3, minute 1 has 1 and 4, minute 2 has 2 and 5.
      const wanted = [5, 7, 9].flatMap((sum, minute) =>
        Array.from({ length: 12 }, (_, lane) => `${minute * 60_000} ${lane} ${sum}`),
      );
      expect(rows.sort()).toEqual(wanted.sort());
    });

    test.each(Object.entries(OTHERS))("%s than the counter's: it cannot add, read or drain", async (_, options) => {
      const flow = counters(OWN);
      await flow.add({ site: "a", lane: "b" }, { at: AT });
      const other = counters(options);
      await expect(other.add(valuesOf(options, "z"))).rejects.toMatchObject(mismatch);
      await expect(other.add(valuesOf(options, "z"))).rejects.toThrow(
        `Counters "flow" add: the counter's layout (format|shards|finest bucket|time zone|dimensions) is ${targetOf(flow).layout}, not ${targetOf(other).layout}`,
      );
      await expect(other.read()).rejects.toMatchObject(mismatch);
      const drain = new DrainService({ counters: other, sink: new TableSink() });
      await expect(drain.drainOnce()).rejects.toMatchObject({ code: "MISMATCH" });
      expect((await counters(OWN).read()).map(({ count }) => count)).toEqual([1]);
    });

    test("several processes start with different layouts: only those with one of them count", async () => {
      for (let i = 0; i < 4; i++) {
        const all = [...Object.values(OTHERS), ...Object.values(OTHERS)];
        const processes = all.map((options) => counters(options, `at once ${i}`));
        const ends = await Promise.allSettled(
          processes.map((one) => one.add(valuesOf({ dimensions: one.shape.dimensions as string[] }, "z"), { at: AT })),
        );
        const counted = processes.filter((_, at) => ends[at]!.status === "fulfilled");
        expect(new Set(counted.map((one) => targetOf(one).layout)).size).toBe(1);
        expect(counted).toHaveLength(2);
        expect((await counted[0]!.read()).map(({ count }) => count)).toEqual([2]);
      }
    });

    const { "another order": other } = OTHERS as Record<string, CountersOptions>;

    test("if the key of the layout is lost or was never written, the shards have it", async () => {
      const flow = counters(OWN);
      await flow.add({ site: "a", lane: "b" }, { at: AT });
      const { shapeKey, layout } = targetOf(flow);
      const seen = `hash ${layout} -`;
      expect(await opened.store.run(setAside, shapeKey, { aside: `${shapeKey}:aside`, seen })).toBe(true);
      await expect(counters(other!).add({ site: "a", lane: "b" })).rejects.toMatchObject(mismatch);
      expect((await opened.store.run(look, shapeKey, null)).type).toBe("none");
      await counters(OWN).add({ site: "a", lane: "b" }, { at: AT });
      expect((await opened.store.run(look, shapeKey, null)).layout).toBe(layout);
    });

    test("after a flush, a process whose layout was replaced counts nothing once it is refused", async () => {
      const flow = counters(OWN);
      await flow.add({ site: "a", lane: "b" }, { at: AT });
      await opened.clear();
      const late = counters(other!);
      for (let i = 0; i < 30; i++) await late.add({ site: `${i}`, lane: "b" }, { at: AT });
      await expect(flow.add({ site: "a", lane: "b" }, { at: AT })).rejects.toMatchObject({ code: "MISMATCH" });
      for (let i = 0; i < 10; i++)
        await expect(flow.add({ site: `${i}`, lane: "c" }, { at: AT })).rejects.toMatchObject(mismatch);
      expect((await late.read()).reduce((sum, { count }) => sum + count, 0)).toBe(30);
    });
  }),
);
