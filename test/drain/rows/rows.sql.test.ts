import { expect, expectTypeOf, test } from "vitest";
import { type CountedEvent, Counters, type CountTable, memoryStore } from "../../../src/entries/index.ts";
import { batch, MINUTE, row } from "../sql/batches.ts";
import { STAGES } from "../stages.ts";

const LARGE = 2n ** 53n;

test("a sink returns rows like Counters.read: values by dimension, and valid in JSON", async () => {
  const stage = await STAGES.SQLite!();
  const sink = stage.sink();
  const flow = new Counters(memoryStore(), "flow", { dimensions: ["site", "constructor"], shards: 1 });
  await sink.createTables(flow.shape);
  await sink.apply(flow.shape, batch([row(["a", "1"], 3n), row(["b", "1"], LARGE)]));
  const { rows } = await sink.read(flow.shape, { bucket: "minute", values: { constructor: "1" } });
  expectTypeOf(rows[0]!.values).toEqualTypeOf<Readonly<Record<"site" | "constructor", string>>>();
  // @ts-expect-error: a dimension that the counter has not
  await expect(sink.read(flow.shape, { bucket: "minute", values: { lane: "1" } })).rejects.toMatchObject({
    code: "ARGUMENT",
  });
  expect(rows).toEqual([
    { bucket: "minute", startMs: MINUTE, values: { site: "a", constructor: "1" }, count: 3n },
    { bucket: "minute", startMs: MINUTE, values: { site: "b", constructor: "1" }, count: LARGE },
  ]);
  expect(JSON.parse(JSON.stringify(rows)).map(({ count }: { count: unknown }) => count)).toEqual([3, `${LARGE}`]);
  const again: CountedEvent<"site" | "constructor"> = { values: rows[0]!.values, at: MINUTE };
  await flow.add(again.values, { at: MINUTE });
  expect((await flow.read())[0]!.values).toEqual(rows[0]!.values);
  await stage.stop();
});

test("a user's table may return values in any order; a row without a value is named", async () => {
  const flow = new Counters(memoryStore(), "own", { dimensions: ["site", "constructor"], shards: 1 });
  await flow.add({ site: "a", constructor: "1" }, { at: MINUTE });
  const tableOf = (values: unknown) => ({
    read: async () => ({ ledger: [], rows: [{ bucket: "minute", startMs: MINUTE, values, count: 2n }] }),
  });
  const read = (values: unknown) => flow.read({ table: tableOf(values) as unknown as CountTable });
  expect(await read({ constructor: "1", more: "no dimension", site: "a" })).toMatchObject([{ count: 3 }]);
  for (const values of [{ site: "a" }, { site: "a", constructor: 1 }, ["a", "1"], "a", null, undefined])
    await expect(read(values)).rejects.toMatchObject({
      code: "CORRUPT",
      message: expect.stringMatching(/^Counters "own" read: a row of the table .* its value of (site|constructor)/),
    });
});
