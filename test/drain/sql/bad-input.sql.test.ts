import { describe, expect, test } from "vitest";
import {
  type CounterShape,
  type DrainBatch,
  longestValue,
  mysqlSink,
  oracleSink,
  postgresSink,
  type Sink,
  type SinkOptions,
  sqliteSink,
} from "../../../src/entries/sql.ts";

/** Clients that fail when they are asked anything. */
const untouched = (): never => {
  throw new Error("a bad argument reached the database");
};
const SINKS: Record<string, (options?: SinkOptions) => Sink> = {
  postgresSink: (options) => postgresSink({ connect: untouched }, options),
  mysqlSink: (options) => mysqlSink({ getConnection: untouched }, options),
  sqliteSink: (options) => sqliteSink({ exec: untouched, prepare: untouched }, options),
  oracleSink: (options) => oracleSink({ getConnection: untouched }, options),
};
const shape: CounterShape = { name: "visits", dimensions: ["site", "lane"], buckets: ["minute", "day"] };
const good: DrainBatch = {
  shard: 0,
  generation: 1,
  nonce: "a1",
  fence: 0,
  events: 1n,
  rows: [{ bucket: "minute", startMs: 0, values: ["a", "b"], count: 1n }],
};
const withRow = (more: object) => ({ ...good, rows: [{ ...good.rows[0]!, ...more }] });

describe.each(Object.entries(SINKS))("%s refuses before any request to the database", (_, sink) => {
  test.each<[string, RegExp, object]>([
    ["a shard", /batch\.shard is -1/, { ...good, shard: -1 }],
    ["a generation", /batch\.generation is 0/, { ...good, generation: 0 }],
    ["a fence", /batch\.fence is 0\.5/, { ...good, fence: 0.5 }],
    ["a nonce", /batch\.nonce is "'"/, { ...good, nonce: "'" }],
    ["events", /batch\.events is 1; it must be a bigint/, { ...good, events: 1 }],
    ["a bucket", /bucket is "hour"; it must be one of minute, day/, withRow({ bucket: "hour" })],
    ["a start within a minute", /startMs is 1; .* whole minute/, withRow({ startMs: 1 })],
    ["a start of the year 10000", /startMs is 253402300800000/, withRow({ startMs: Date.UTC(10_000, 0) })],
    ["too few values", /values is an array of 1; it must be 2 texts/, withRow({ values: ["a"] })],
    ["a value that is no text", /value of lane is 5/, withRow({ values: ["a", 5] })],
    ["a value with NUL", /value of lane is "\\u0000"/, withRow({ values: ["a", "\0"] })],
    ["half a surrogate pair", /value of site is .*lone surrogate/, withRow({ values: ["\ud83d", "\ude00"] })],
    ["a value that is too long", /at most 255 characters/, withRow({ values: ["a", "x".repeat(256)] })],
    ["a negative count", /count is -1n/, withRow({ count: -1n })],
    ["a count above 2^63 - 1", /count is 9223372036854775808n/, withRow({ count: 2n ** 63n })],
    [
      "a sum of one key above it",
      /count is/,
      { ...good, rows: [0, 1].map(() => withRow({ count: 2n ** 62n }).rows[0]) },
    ],
  ])("%s", async (_, message, batch) => {
    const refused = expect(sink().apply(shape, batch as DrainBatch)).rejects;
    await refused.toMatchObject({ code: "ARGUMENT", transient: false, applied: "no" });
    await expect(sink().apply(shape, batch as DrainBatch)).rejects.toThrow(message);
  });

  test("time-outs, shapes, names and queries are checked", async () => {
    await expect(sink().apply(shape, good, { timeoutMs: 0 })).rejects.toThrow(/timeoutMs is 0/);
    const of = (more: object) => () => sink().ddl({ ...shape, ...more } as CounterShape);
    expect(of({ name: "" })).toThrow(/shape\.name/);
    expect(of({ dimensions: ["a", "a"] })).toThrow(/shape\.dimensions/);
    expect(of({ buckets: ["week"] })).toThrow(/shape\.buckets/);
    const named = (options: object) => () => sink(options as SinkOptions).ddl(shape);
    expect(named({ table: "" })).toThrow(/table is ""/);
    expect(named({ table: "x".repeat(1001) })).toThrow(/table is/);
    expect(named({ ledgerTable: "a\0" })).toThrow(/ledgerTable/);
    expect(named({ columns: { start: "SITE" } })).toThrow(/no other column/);
    expect(named({ columns: { dimensions: { street: "x" } } })).toThrow(/one of site, lane/);
    expect(named({ tabel: "x" })).toThrow(/tabel/);
    expect(named({ columns: { sum: "x" } })).toThrow(/sum/);
    const read = (query: object) => sink().read(shape, query as never);
    await expect(read({ bucket: "hour" })).rejects.toThrow(/query\.bucket/);
    await expect(read({ bucket: "day", fromMs: 0.5 })).rejects.toThrow(/query\.fromMs/);
    await expect(read({ bucket: "day", values: { street: "x" } })).rejects.toThrow(/query\.values is "street"/);
  });
});

test("values may have 255 characters in up to three dimensions, and 765 together in more", () => {
  const longest = (count: number) =>
    longestValue({ ...shape, dimensions: Array.from({ length: count }, (_, i) => `d${i}`) });
  expect([0, 1, 3, 4, 6].map(longest)).toEqual([255, 255, 255, 191, 127]);
});
