import { expect, expectTypeOf, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { memoryStore } from "../../../src/entries/memory-store.ts";

const AT = Date.UTC(2026, 0, 31);
const flow = new Counters(memoryStore(), "flow", { dimensions: ["site", "lane"] });

test("a value is required for each dimension, and for no other name", async () => {
  const calls = [
    // @ts-expect-error: without its other dimension
    () => flow.add({ lane: "1" }),
    // @ts-expect-error: a dimension that the counter has not
    () => flow.add({ site: "a", lane: "1", colour: "red" }),
    // @ts-expect-error: a number is no value
    () => flow.add({ site: "a", lane: 1 }),
    // @ts-expect-error: in a batch too
    () => flow.addBatch("s", 0, [{ values: { lane: "1" } }]),
    // @ts-expect-error: nor may it be asked for
    () => flow.read({ values: { colour: "red" } }),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "ARGUMENT" });
});

test("an added dimension is one of the dimensions everywhere", async () => {
  const grown = new Counters(memoryStore(), "flow", { dimensions: ["site"], addedDimensions: ["lane"] });
  // @ts-expect-error: without the one that was added
  await expect(grown.add({ site: "a" })).rejects.toMatchObject({ code: "ARGUMENT" });
  await grown.add({ site: "a", lane: "1" }, { at: AT });
  expectTypeOf((await grown.read())[0]!.values).toEqualTypeOf<Readonly<Record<"site" | "lane", string>>>();
  const of = (dimensions: unknown, addedDimensions: unknown) => () =>
    new Counters(memoryStore(), "flow", { dimensions, addedDimensions } as never);
  const many = Array.from({ length: 9 }, (_, i) => `d${i}`);
  expect(of(["site"], ["Site"])).toThrow("dimensions and addedDimensions is");
  expect(of(["site"], ["+lane"])).toThrow('addedDimensions is "+lane"; it must be names of A-Z');
  expect(of(many, many)).toThrow("at most 7 names, for 16 in all");
  expect(of(["site"], "lane")).toThrow("addedDimensions is");
  expect(of([], ["lane"])).toThrow("dimensions is");
});

test("rows have the values that were added", async () => {
  await flow.add({ site: "a", lane: "1" }, { at: AT });
  const [row] = await flow.read();
  expectTypeOf(row!.values).toEqualTypeOf<Readonly<Record<"site" | "lane", string>>>();
  expect(row!.values).toEqual({ site: "a", lane: "1" });
  await flow.add(row!.values, { at: AT });
  expect((await flow.read({ values: { site: "a" } }))[0]!.count).toBe(2);
});

test("a counter whose dimensions are known when it runs takes any values, and any counter can be drained", async () => {
  const named: string[] = ["site"];
  const loose = new Counters(memoryStore(), "loose", { dimensions: named });
  await loose.add({ site: "a" }, { at: AT });
  expectTypeOf((await loose.read())[0]!.values).toEqualTypeOf<Readonly<Record<string, string>>>();
  expectTypeOf(flow).toExtend<Counters>();
});

test("counts are numbers, and bigints on request", async () => {
  const numbers = await flow.read();
  expectTypeOf(numbers[0]!.count).toEqualTypeOf<number>();
  const bigints = await flow.read({ bigint: true });
  expectTypeOf(bigints[0]!.count).toEqualTypeOf<bigint>();
  const either = await flow.read({ bigint: Math.random() < 0.5 });
  expectTypeOf(either[0]!.count).toEqualTypeOf<number | bigint>();
  expect([numbers[0]!.count, bigints[0]!.count]).toEqual([2, 2n]);
  await expect(flow.read({ bigint: 1 as never })).rejects.toThrow(/read: bigint is 1; it must be true or false/);
});

test("rows with bigints go through JSON: numbers up to 2^53 - 1, above it text", async () => {
  const large = new Counters(memoryStore(), "large", { dimensions: ["site"] });
  await large.add({ site: "a" }, { at: AT, count: Number.MAX_SAFE_INTEGER });
  const asJson = async () => JSON.parse(JSON.stringify(await large.read({ bigint: true })));
  const row = { bucket: "minute", startMs: AT, values: { site: "a" } };
  expect(await asJson()).toEqual([{ ...row, count: Number.MAX_SAFE_INTEGER }]);
  await large.add({ site: "a" }, { at: AT });
  expect(await asJson()).toEqual([{ ...row, count: "9007199254740992" }]);
});
