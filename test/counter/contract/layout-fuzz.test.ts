import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import {
  isStorable,
  longestValue,
  MAX_START_MS,
  MIN_START_MS,
  readField,
  valuesText,
} from "../../../src/counters/counter/format/layout.ts";
import { packStrings, unpackStrings } from "../../../src/store/message-pack.ts";
import { type OpenStore, onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

const MINUTE_MS = 60_000;
let server: RedisServer;
let raw: Redis;
let stores: OpenStore[];
beforeAll(async () => {
  server = await startRedis();
  raw = new Redis(server.url);
  stores = [await onMemory(), await onRedis()];
});
beforeEach(() => Promise.all(stores.map((each) => each.clear())));
afterAll(async () => {
  raw?.disconnect();
  await Promise.all([...(stores ?? []).map((each) => each.close()), server?.stop()]);
});

const odd = fc.constantFrom(
  "",
  "|",
  "%",
  "\n",
  "\r\n",
  "\0",
  "'",
  '"',
  "\\",
  "%7c",
  "a|b",
  "ü",
  "😀",
  "\u2028",
  "@n:1",
  "w:x",
);
const value = fc.oneof(
  odd,
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.array(odd, { maxLength: 30 }).map((all) => all.join("")),
);
/** What every database can keep. */
const kept = value.filter((text) => isStorable(text, longestValue(2)));
const DAY_MS = 1440 * MINUTE_MS;
const [least, most] = [MIN_START_MS + DAY_MS, MAX_START_MS - DAY_MS];
const at = fc.oneof(
  fc.integer({ min: least, max: most }),
  fc.constantFrom(-1, 0, 1, -MINUTE_MS, least, most, Date.UTC(1969, 11, 31, 23, 59, 59, 999)),
);

test("a field is read back as written, and contains no line feed", () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 16 }), fc.integer(), (values, start) => {
      const text = `${start}${valuesText(values)}`;
      expect(text).not.toContain("\n");
      expect(readField(text)).toEqual({ startMinute: start, values });
    }),
    { numRuns: 1000 },
  );
});

test("odd values at odd times are read back from either store", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(kept, kept, at), { minLength: 1, maxLength: 20 }), async (events) => {
      const reported = [];
      for (const { store, clear } of stores) {
        await clear();
        const flow = new Counters(store, "odd", { dimensions: ["a", "b"], shards: 3 });
        await Promise.all(events.slice(0, 10).map(([a, b, at]) => flow.add({ a, b }, { at })));
        if (events.length > 10)
          await flow.addBatch(
            "s",
            0,
            events.slice(10).map(([a, b, at]) => ({ values: { a, b }, at })),
          );
        const rows = await flow.read();
        const wanted = new Map<string, number>();
        for (const [a, b, at] of events) {
          const key = JSON.stringify([Math.floor(at / MINUTE_MS) * MINUTE_MS, a, b]);
          wanted.set(key, (wanted.get(key) ?? 0) + 1);
        }
        const found = new Map(
          rows.map(({ startMs, values, count }) => [JSON.stringify([startMs, values.a, values.b]), count]),
        );
        expect(found).toEqual(wanted);
        reported.push(rows);
        await flow.close();
      }
      expect(reported[1]).toEqual(reported[0]);
    }),
    { numRuns: 60 },
  );
});

test("values of up to 255 characters are accepted, longer ones refused", async () => {
  for (const { store } of stores) {
    const flow = new Counters(store, "long", { dimensions: ["a"], shards: 1 });
    const most = "|😀".repeat(85);
    await flow.add({ a: most }, { at: 0 });
    expect(await flow.read()).toEqual([{ bucket: "minute", startMs: 0, values: { a: most }, count: 1 }]);
    await expect(flow.add({ a: `${most}x` })).rejects.toMatchObject({ code: "ARGUMENT" });
  }
});

test("Redis' cmsgpack reads packed strings of any length", async () => {
  const lengths = [0, 1, 31, 32, 33, 255, 256, 257, 65_535, 65_536, 70_000];
  const strings = [...lengths.map((length) => "ü".repeat(length / 2).padEnd(length, "x")), "last"];
  strings.push(...lengths.map((length) => "y".repeat(length)));
  const packed = packStrings(strings);
  expect(unpackStrings(packed)).toEqual(strings);
  const reported = await raw.eval("return cmsgpack.unpack(ARGV[1])", 0, Buffer.from(packed));
  expect(reported).toEqual(strings);
  const many = Array.from({ length: 70_000 }, (_, i) => `${i}`);
  expect(await raw.eval("return #cmsgpack.unpack(ARGV[1])", 0, Buffer.from(packStrings(many)))).toBe(many.length);
});

test("sums up to 2^63 - 1 are exact; above, nothing is written", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  for (const { store } of stores) {
    const flow = new Counters(store, "large", { dimensions: ["a"], shards: 1 });
    await Promise.all([flow.add({ a: "x" }, { at: 0, count: most }), flow.add({ a: "x" }, { at: 0, count: most })]);
    expect((await flow.read({ bigint: true }))[0]!.count).toBe(2n * BigInt(most));
    const many = Array.from({ length: 1022 }, () => ({ values: { a: "x" }, at: 0, count: most }));
    await flow.addBatch("s", 0, many);
    expect((await flow.read({ bigint: true }))[0]!.count).toBe(1024n * BigInt(most));
    const before = await flow.read({ bigint: true });
    // 1024 (2^53 - 1) + 1023 is 2^63 - 1.
    await expect(flow.add({ a: "x" }, { at: 0, count: 1024 })).rejects.toMatchObject({ code: "CORRUPT" });
    await expect(flow.addBatch("s", 5000, many)).rejects.toMatchObject({ code: "CORRUPT" });
    await expect(flow.addBatch("t", 0, [...many, ...many])).rejects.toMatchObject({ code: "CORRUPT" });
    expect(await flow.read({ bigint: true })).toEqual(before);
    await flow.add({ a: "x" }, { at: 0, count: 1023 });
    expect((await flow.read({ bigint: true }))[0]!.count).toBe(2n ** 63n - 1n);
    await flow.close();
  }
});
