import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Counters, DrainService, redisStore } from "../../../src/entries/index.ts";
import { sqliteSink } from "../../../src/entries/sql.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { Sqlite } from "../sql/clients.ts";

const SHARDS = 4;
let server: RedisServer;
let operator: Redis;
beforeAll(async () => {
  server = await startRedis();
  const admin = new Redis(server.url);
  await admin.call("ACL", "SETUSER", "operator", "on", "nopass", "~*", "&*", "+@all");
  admin.disconnect();
  operator = new Redis(server.url, { username: "operator", password: "any" });
});
beforeEach(() => operator.flushall());
afterAll(async () => {
  operator?.disconnect();
  await server?.stop();
});

const rights = ["-@scripting", "-hincrby -hset -append -set", "resetkeys"];
const cases = rights.flatMap((taken) =>
  (["eval", "functions"] as const).map((scripting) => [taken, scripting] as const),
);

test.each(cases)(
  "shards that fail for %s are drained in the first cycle after the permission is back: %s",
  async (taken, scripting) => {
    const client = new Redis(server.url);
    const store = redisStore(client, { scripting });
    const database = new Sqlite(":memory:");
    const sink = sqliteSink(database);
    const counters = new Counters(store, "c", { dimensions: ["id"], shards: SHARDS });
    await sink.createTables(counters.shape);
    const service = new DrainService({ counters, sink });
    const reported: string[] = [];
    service.on("error", ({ shards, error }) => void reported.push(`${(error as { code: string }).code} ${shards}`));
    service.on("recovered", ({ shards }) => void reported.push(`recovered ${shards}`));
    for (let i = 0; i < 100; i++) await counters.add({ id: `n${i}` });
    await operator.call("ACL", "SETUSER", "default", ...taken.split(" "));
    for (let i = 0; i < 2; i++)
      expect(await service.drainOnce()).toMatchObject({ failed: SHARDS, drained: 0, diverged: 0 });
    await operator.call("ACL", "SETUSER", "default", "~*", "+@all");
    expect(await service.drainOnce()).toMatchObject({ failed: 0, drained: SHARDS, diverged: 0, events: 100n });
    expect(reported).toEqual([expect.stringMatching(/ 0,1,2,3$/), "recovered 0,1,2,3"]);
    expect(await service.drainOnce()).toMatchObject({ failed: 0, drained: 0, diverged: 0 });
    await counters.close();
    await store.close();
    client.disconnect();
    database.close();
  },
);
