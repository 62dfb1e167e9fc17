import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rebase } from "../../../src/counters/counter/steps/repairs.ts";
import { redisStore, type Store } from "../../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

let server: RedisServer;
let raw: Redis;
let store: Store;
beforeAll(async () => {
  server = await startRedis();
  raw = new Redis(server.url);
  store = redisStore(server.url);
});
afterAll(async () => {
  await store?.close();
  raw?.disconnect();
  await server?.stop();
});

/** A step that walked from one to the other would never end, and could not be killed once it had written. */
test.each([
  { acked: "0", current: "9007199254740991" },
  { acked: "0", current: "1000000000" },
  { acked: "9007199254740992", current: "9007199254740994" },
  { acked: "-99999999999999999999", current: "5" },
])("a repair of generations from $acked to $current is CORRUPT and writes nothing", async ({ acked, current }) => {
  const key = "oriel:{hits:0}:counts";
  await raw.del(key);
  await raw.hset(key, { "@layout": "layout", "@ack": acked, "@cur": current });
  const before = await raw.hgetall(key);
  const seen = ` 0 ${BigInt(Number(acked))}`;
  await expect(
    store.run(rebase, key, { layout: "layout", seen, ledger: 3, leftOut: undefined, ledgerBornMs: 0, sums: [] }),
  ).rejects.toMatchObject({ code: "CORRUPT", applied: "no", message: expect.stringContaining(key) });
  expect(await raw.hgetall(key)).toEqual(before);
});
