import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Counters, targetOf } from "../../../src/counters/counter/counters.ts";
import type { CountersOptions } from "../../../src/counters/counter/options.ts";
import { acknowledge, freeze, part, sweep } from "../../../src/counters/counter/steps/generations.ts";
import { look, page } from "../../../src/counters/counter/steps/reads.ts";
import { rebase, setAside } from "../../../src/counters/counter/steps/repairs.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import { type MatrixStore, overMatrix } from "../../matrix/open.ts";
import { Random } from "../../simulator/world/random.ts";
import { WideTable } from "./wide-table.ts";

const AT = Date.UTC(2026, 1, 28, 23, 58);
const STEPS = Number(process.env.ORIEL_DIMENSION_STEPS ?? 30);
const NAMES = ["site", "lane", "colour", "size"];
/** Versions of a program: what each counts by. */
const VERSIONS: CountersOptions[] = [
  { dimensions: ["site", "lane"] },
  { dimensions: ["site", "lane"], addedDimensions: ["colour"] },
  { dimensions: ["site", "lane"], addedDimensions: ["colour", "size"] },
];
const ALL = 2;
const mismatch = { code: "MISMATCH", applied: "no" };

overMatrix("counters", (name, open) =>
  describe(`a dimension added to counters, ${name}`, () => {
    let opened: MatrixStore;
    const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened.clear());
    afterAll(() => opened?.close());
    const counters = (version: number, more: Partial<CountersOptions> = {}) =>
      new Counters(opened.store, "flow", { shards: 8, ...opened.modes, ...VERSIONS[version]!, ...more });
    const valuesFor = (flow: Counters, values: readonly string[]) =>
      Object.fromEntries(flow.shape.dimensions.map((dimension, i) => [dimension, values[i]!]));
    const add = (flow: Counters, ...values: string[]) => flow.add(valuesFor(flow, values), { at: AT });
    const textsOf = async (flow: Counters, table?: WideTable) =>
      (await flow.read({ values: {}, ...(table && { table }) })).map(
        ({ values, count }) => `${flow.shape.dimensions.map((dimension) => values[dimension]).join(" ")}: ${count}`,
      );

    test(`programs of every version, in any order, change no total and no row (seed ${seed})`, async () => {
      const random = new Random(seed);
      const table = new WideTable(NAMES.length);
      const wanted = new Map<string, bigint>();
      const producers = VERSIONS.map((_, version) => counters(version));
      const events = Array.from({ length: STEPS * 3 }, () => NAMES.map((_, i) => random.pick(["", "x", `${i}|`])));
      let [newest, counted] = [-1, 0];
      const note = (version: number, values: readonly string[]) => {
        const row = NAMES.map((_, i) => (i < 2 + version ? values[i] : "")).join(" ");
        wanted.set(row, (wanted.get(row) ?? 0n) + 1n);
      };
      const refusedOr = async (version: number, run: () => Promise<void>) => {
        if (version >= newest) await run();
        else await expect(run()).rejects.toMatchObject({ code: "MISMATCH" });
      };
      for (let step = 0; step < STEPS; step++) {
        const version = random.int(0, random.int(0, ALL));
        if (random.int(0, 5) === 0) producers[version] = counters(version);
        const flow = producers[version]!;
        const kind = random.pick(["add", "add", "batch", "read", "drain", "a drain that is cut short"]);
        if (kind === "add") {
          const some = Array.from({ length: 4 }, () => random.pick(events));
          await Promise.all(some.map((values) => add(flow, ...values)));
          for (const values of some) note(version, values);
          newest = Math.max(newest, version);
        } else if (kind === "batch") {
          // Counted events come again, from a program of another version.
          const from = random.int(Math.max(0, counted - 6), counted);
          const some = events.slice(from, from + 5);
          await flow.addBatch(
            "source",
            from,
            some.map((values) => ({ values: valuesFor(flow, values), at: AT })),
          );
          for (const values of some.slice(counted - from)) note(version, values);
          counted = Math.max(counted, from + some.length);
          newest = Math.max(newest, version);
        } else if (kind === "read")
          await refusedOr(version, async () => {
            const total = [...wanted.values()].reduce((sum, count) => sum + count, 0n);
            const rows = await flow.read({ table, bigint: true });
            expect(rows.reduce((sum, { count }) => sum + count, 0n)).toBe(total);
          });
        else
          await refusedOr(version, async () => {
            const sink = kind === "drain" ? table : table.cutShort(random.pick(["before", "after"]));
            await new DrainService({ counters: counters(version), sink }).drainOnce();
          });
      }
      const last = counters(ALL);
      const texts = [...wanted].map(([row, count]) => `${row}: ${count}`).sort();
      expect((await textsOf(last, table)).sort()).toEqual(texts);
      for (let i = 0; i < 2; i++) await new DrainService({ counters: last, sink: table }).drainOnce();
      expect(await last.read()).toEqual([]);
      expect((await textsOf(last, table)).sort()).toEqual(texts);
      for (const bucket of ["minute", "hour", "day"] as const)
        expect((await last.read({ table, bucket })).map(({ values }) => values)).toHaveLength(texts.length);
    });

    test("once a new program has counted, an old one can count but neither read nor drain", async () => {
      const old = counters(0);
      await add(old, "a", "1");
      const grown = counters(1);
      expect(await textsOf(grown)).toEqual(["a 1 : 1"]);
      expect(await textsOf(old)).toEqual(["a 1: 1"]);
      await add(grown, "a", "1", "red");
      await add(grown, "a", "1", "");
      await add(old, "a", "1");
      await add(counters(0), "b", "1");
      const shards = await Promise.all(targetOf(old).keys.map((key) => opened.store.run(look, key, null)));
      // The shard of the row that the old one has counted since keeps its newer layout.
      expect(shards.map(({ layout }) => layout)).toContain(targetOf(grown).layout);
      expect(await textsOf(grown)).toEqual(["a 1 : 3", "a 1 red: 1", "b 1 : 1"]);
      expect((await grown.read({ values: { colour: "" } })).map(({ count }) => count)).toEqual([3, 1]);
      await expect(old.read()).rejects.toMatchObject(mismatch);
      const table = new WideTable(NAMES.length);
      await expect(new DrainService({ counters: old, sink: table }).drainOnce()).rejects.toMatchObject(mismatch);
      expect(await table.ledger()).toEqual([]);
      expect(targetOf(grown).layout).toBe(
        "1|8|minute|UTC|site|lane|+colour".replace("8", `${targetOf(grown).keys.length}`),
      );
    });

    test("anything but an addition to the dimensions is refused", async () => {
      await add(counters(0), "a", "1");
      await add(counters(1), "a", "1", "red");
      const others: Partial<CountersOptions>[] = [
        { addedDimensions: ["size"] },
        { addedDimensions: ["colours"] },
        { addedDimensions: ["size", "colour"] },
        { dimensions: ["site", "lane", "colour"], addedDimensions: [] },
        { dimensions: ["site"], addedDimensions: ["lane", "colour"] },
      ];
      for (const other of others) {
        const flow = counters(0, other);
        await expect(add(flow, "a", "1", "x", "y")).rejects.toMatchObject(mismatch);
        await expect(flow.read()).rejects.toMatchObject(mismatch);
      }
      expect(await textsOf(counters(1))).toEqual(["a 1 : 1", "a 1 red: 1"]);
    });

    test("readers and drains leave a newer shard alone, even if the key of the layout is older", async () => {
      const [old, grown] = [counters(0, { shards: 1 }), counters(1, { shards: 1 })];
      await add(grown, "a", "1", "red");
      const [key] = targetOf(old).keys as [string];
      const { layout } = targetOf(old);
      const { store } = opened;
      const steps: Record<string, () => Promise<unknown>> = {
        page: () => store.run(page, key, { layout, cursor: "0", count: 9 }),
        freeze: () => store.run(freeze, key, { layout, nonce: "n" }),
        part: () => store.run(part, key, { layout, ledger: "1 n" }),
        acknowledge: () => store.run(acknowledge, key, { layout, generation: 1, nonce: "n" }),
        sweep: () => store.run(sweep, key, { layout, fields: [] }),
        rebase: () =>
          store.run(rebase, key, { layout, seen: "", ledger: 1, leftOut: undefined, ledgerBornMs: 0, sums: [] }),
      };
      const before = await store.run(look, key, null);
      for (const [step, run] of Object.entries(steps))
        await expect(run(), step).rejects.toThrow(
          `the counter's layout (format|shards|finest bucket|time zone|dimensions) is ${targetOf(grown).layout}, not ${layout}`,
        );
      expect(await store.run(look, key, null)).toEqual(before);
      const newest = targetOf(counters(2, { shards: 1 })).layout;
      expect((await store.run(freeze, key, { layout: newest, nonce: "n" })).generation).toMatchObject({ sum: 1n });
    });

    test("of two concurrent additions, one counts", async () => {
      await add(counters(0), "a", "1");
      const both = [counters(1), counters(0, { addedDimensions: ["size"] })];
      const ends = await Promise.allSettled([...both, ...both].map((flow, i) => add(flow, `${i}`, "1", "x")));
      expect(ends.filter(({ status }) => status === "fulfilled").length % 2).toBe(0);
      const reads = await Promise.allSettled(both.map((flow) => flow.read()));
      expect(reads.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    });

    test("an old program that finds no layout key writes the layout of the shards", async () => {
      const grown = counters(1);
      await add(grown, "a", "1", "red");
      const { shapeKey, layout } = targetOf(grown);
      await opened.store.run(setAside, shapeKey, { aside: `${shapeKey}:aside`, seen: `hash ${layout} -` });
      await add(counters(0), "a", "1");
      expect((await opened.store.run(look, shapeKey, null)).layout).toBe(layout);
      await expect(add(counters(0, { addedDimensions: ["size"] }), "a", "1", "x")).rejects.toMatchObject(mismatch);
    });

    test("values from a time with a longer limit are read and drained", async () => {
      const [three, four] = [{ dimensions: ["a", "b", "c"] }, { dimensions: ["a", "b", "c"], addedDimensions: ["d"] }];
      const long = "x".repeat(255);
      await add(counters(0, three), long, "", "");
      const flow = counters(0, four);
      await expect(add(flow, long, "", "", "")).rejects.toThrow("at most 191 characters");
      await add(flow, "y".repeat(191), "", "", "z");
      const table = new WideTable(NAMES.length);
      expect(await flow.read()).toHaveLength(2);
      expect(await new DrainService({ counters: flow, sink: table }).drainOnce()).toMatchObject({ events: 2n });
      expect(await flow.read({ table, values: { a: long } })).toMatchObject([{ values: { a: long, d: "" }, count: 1 }]);
    });
  }),
);
