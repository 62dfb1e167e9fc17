import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import { STAGES, type Stage } from "../stages.ts";
import { asRead, batch, freshShape, row } from "./batches.ts";

/** Names that every object has, and so every object that was made to look them up. */
const NAMES = Object.getOwnPropertyNames(Object.prototype);
/** Those that a counter takes: a letter comes first. */
const TAKEN = NAMES.filter((name) => /^[a-z]/i.test(name));
const AT = Date.UTC(2026, 0, 31, 23, 59);

test("a counter accepts names of Object.prototype that begin with a letter, and refuses the others", () => {
  expect(TAKEN).toContain("constructor");
  for (const name of NAMES) {
    const make = () => new Counters(memoryStore(), "names", { dimensions: [name] });
    if (TAKEN.includes(name)) expect(make().shape.dimensions).toEqual([name]);
    else expect(make).toThrow(/^Counters "names": dimensions is "__.*"; it must be names of A-Z/);
  }
});

describe.each(Object.keys(STAGES))("names of Object.prototype, drained into %s", (into) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await STAGES[into]!();
  });
  afterAll(() => stage?.stop());

  test("are counted, drained, read and queried as dimensions", async () => {
    const dimensions = ["lane", ...TAKEN];
    const flow = new Counters(memoryStore(), "names", { dimensions, shards: 2 });
    const sink = stage.sink();
    const drain = new DrainService({ counters: flow, sink });
    await sink.createTables(flow.shape);
    const one = Object.fromEntries(dimensions.map((name) => [name, `of ${name}`]));
    const other = { ...one, constructor: "else" };
    for (const _ of ["in the store", "in the table"]) {
      await flow.add(one, { at: AT, count: 2 });
      await flow.addBatch("s", 0, [{ values: other, at: AT }]);
      for (const name of dimensions) {
        const rows = await flow.read({ table: sink, values: { [name]: one[name]! } });
        expect(rows.map(({ values }) => values).filter((values) => values[name] !== one[name])).toEqual([]);
        expect(rows).toHaveLength(name === "constructor" ? 1 : 2);
        await expect(flow.add(Object.fromEntries(Object.entries(one).filter(([key]) => key !== name)))).rejects.toThrow(
          new RegExp(`^Counters "names" add: ${name} is `),
        );
      }
      expect(await drain.drainOnce()).toMatchObject({ failed: 0, diverged: 0 });
    }
    const rows = await flow.read({ bucket: "day", table: sink });
    expect(rows.map(({ values, count }) => [values.constructor, count])).toEqual([
      ["else", 1],
      ["of constructor", 4],
    ]);
    expect(rows[1]!.values).toEqual(one);
  });

  test("are written and read as columns and as names of the table", async () => {
    for (const name of NAMES) {
      const shape = freshShape([name, "lane"]);
      const columns = { dimensions: Object.fromEntries([[name, `${name}_2`]]) };
      for (const options of [{}, { columns }, { table: `t_${name}_${shape.name}`, columns: { count: name } }]) {
        const sink = stage.sink({
          ...options,
          ...(!("table" in options) && { table: `${shape.name}_${Object.keys(options).length}` }),
        });
        if ("table" in options) {
          expect(() => sink.ddl(shape)).toThrow(/columns is .*a name that no other column has/);
          continue;
        }
        const one = { ...shape, name: `${shape.name} ${Object.keys(options).length}` };
        await sink.createTables(one);
        await sink.apply(one, batch([row(["a", "b"], 3n)]));
        expect((await sink.read(one, { bucket: "minute", values: Object.fromEntries([[name, "a"]]) })).rows).toEqual(
          asRead(one, [row(["a", "b"], 3n)]),
        );
        expect((await sink.read(one, { bucket: "minute", values: Object.fromEntries([[name, "c"]]) })).rows).toEqual(
          [],
        );
      }
    }
  });
});
