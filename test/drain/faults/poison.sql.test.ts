import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OrielError } from "../../../src/base/errors.ts";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import { redisStore } from "../../../src/entries/index.ts";
import type { Sink } from "../../../src/entries/sql.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { STAGES, type Stage } from "../stages.ts";

const SHARDS = 2;
const VALUES = Array.from({ length: 8 }, (_, i) => `v${i}`);
const AT = Date.UTC(2026, 1, 28, 23, 50);
const MINUTE = AT / 60_000;

let server: RedisServer;
let client: Redis;
let store: Store;
let stage: Stage;
let flow: Counters;
let sink: Sink;
let table: string;
let names = 0;
const uncaught: unknown[] = [];
const onUncaught = (error: unknown) => void uncaught.push(error);

beforeAll(async () => {
  process.on("unhandledRejection", onUncaught);
  [server, stage] = await Promise.all([startRedis(), STAGES.SQLite!()]);
  client = new Redis(server.url);
  store = redisStore(server.url, { onWarning: null });
});
afterAll(async () => {
  process.off("unhandledRejection", onUncaught);
  client?.disconnect();
  await store?.close();
  await Promise.all([server?.stop(), stage?.stop()]);
});
beforeEach(async () => {
  await client.flushall();
  flow = new Counters(store, `flow ${++names}`, { dimensions: ["a"], shards: SHARDS });
  table = `flow_${names}`;
  sink = stage.sink({ table, ledgerTable: `ledger_${names}` });
  await sink.createTables(flow.shape);
  await addAll();
});

const addAll = () => Promise.all(VALUES.map((a) => flow.add({ a }, { at: AT })));
async function shardKeys(): Promise<[string, string]> {
  return (await client.keys("*:counts")).sort() as [string, string];
}

/** Two cycles of a drain with errors, and the contents of the table then, by value. */
async function drained() {
  const drain = new DrainService({ counters: flow, sink });
  const errors: OrielError[] = [];
  drain.on("error", ({ error }) => void errors.push(error as OrielError));
  for (let i = 0; i < 2; i++) await drain.drainOnce();
  await drain.stop();
  const { rows } = await sink.read(flow.shape, { bucket: "minute" });
  expect(uncaught).toEqual([]);
  return { errors, counts: new Map(rows.map(({ values, count }) => [values.a!, Number(count)])) };
}

/** Each error names its place: structure, name and key, or the given texts. */
function expectNamed(errors: readonly OrielError[], ...parts: string[]): void {
  expect(errors.length).toBeGreaterThan(0);
  for (const { code, message } of errors) {
    expect(code, message).toBe("CORRUPT");
    for (const part of ["DrainService", flow.name, ...parts]) expect(message).toContain(part);
  }
}

const all = new Map(VALUES.map((value) => [value, 1]));

test.each([
  [`1|${MINUTE}|more`, "inf"],
  [`1|${MINUTE}|more`, "-5"],
  [`1|${MINUTE}|more`, "9223372036854775808"],
  [`1|${MINUTE}|more`, "99999999999999999999999999"],
  [`1|${MINUTE}|more`, "\ud800\0\u202e"],
  ["1|x|a", "1"],
  ["1|99999999999|a", "1"],
  [`1|${MINUTE}|\0`, "1"],
  [`1|${MINUTE}|${"x".repeat(256)}`, "1"],
  [`1|${MINUTE}|a|b|c`, "1"],
  [`1|${MINUTE}|a\nb`, "1"],
  [`1|${MINUTE}|more`, "1\n\n2"],
  [`1|${MINUTE}|%zz`, "1"],
  [Buffer.concat([Buffer.from(`1|${MINUTE}|`), Buffer.from([0xed, 0xa0, 0x80])]), "1"],
  ["1|", "1"],
] as [string | Buffer, string][])(
  "a field %j with the value %j stays in the store, and all others are drained",
  async (field, value) => {
    const keys = await shardKeys();
    for (const key of keys) await client.hset(key, field as string, value);
    const { errors, counts } = await drained();
    expect(counts).toEqual(all);
    expect(errors).toHaveLength(SHARDS);
    expectNamed(errors, 'the key "');
    for (const key of keys) expect(errors.some(({ message }) => message.includes(key))).toBe(true);
    for (const key of keys)
      expect((await client.hgetBuffer(key, field as string))!.equals(Buffer.from(value))).toBe(true);
  },
);

test.each([
  ["is a list", async (key: string) => void (await client.multi().del(key).rpush(key, "x").exec())],
  ["has numbers that are none", async (key: string) => void (await client.hset(key, "@cur", "\ud800", "@ack", "nan"))],
  ["has a sum that is none", async (key: string) => void (await client.hset(key, "@n:1", "1e9"))],
])("a shard that %s is reported, and its neighbour is drained", async (_what, damage) => {
  const [bad] = await shardKeys();
  const own = await client.hkeys(bad);
  await damage(bad);
  const { errors, counts } = await drained();
  expectNamed(errors, `the key "${bad}"`);
  const neighbours = VALUES.filter((value) => !own.includes(`1|${MINUTE}|${value}`));
  expect(neighbours.length).toBeGreaterThan(0);
  expect([...counts.keys()].sort()).toEqual(neighbours);
});

test.each([
  ["generation", "-1"],
  ["generation", "9007199254740993"],
  ["fence", "-7"],
  ["events", "-9223372036854775808"],
  ["nonce", "x'eda080'"],
])("a row of the ledger whose %s is %s is reported, and the neighbour is drained", async (column, value) => {
  await drained();
  await stage.run!(`UPDATE ledger_${names} SET ${column} = ${value} WHERE shard = 0`);
  await addAll();
  const { errors, counts } = await drained();
  if (column === "nonce") return expect(counts.size).toBe(VALUES.length);
  expectNamed(errors, "the row of the ledger", "shard 0");
  const twice = [...counts.values()].filter((count) => count === 2).length;
  expect(twice).toBeGreaterThan(0);
  expect(twice).toBeLessThan(VALUES.length);
  await expect(flow.read({ table: sink })).rejects.toMatchObject({
    code: "CORRUPT",
    message: expect.stringContaining("shard 0"),
  });
});
