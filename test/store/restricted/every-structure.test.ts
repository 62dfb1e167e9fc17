import { Redis } from "ioredis";
import { beforeAll, describe, expect, test } from "vitest";
import { memoryStore } from "../../../src/entries/index.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRestricted } from "../../harness/servers/restricted.ts";
import { RESTRICTIONS } from "../../harness/servers/restrictions.ts";
import { clients, storeOn } from "../contract/clients.ts";
import { driveAll } from "./drive.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
let expected: Awaited<ReturnType<typeof driveAll>>;
beforeAll(async () => {
  const store = memoryStore();
  expected = await driveAll(store);
  await store.close();
});

const behind = async (restriction: keyof typeof RESTRICTIONS, client: keyof typeof clients) => {
  const { url, port } = await redis();
  const raw = new Redis(url);
  await raw.flushall();
  raw.disconnect();
  const server = await startRestricted(port, RESTRICTIONS[restriction]);
  const given = clients[client](server.url);
  const store = storeOn(given, {});
  atEnd(async () => {
    await store.close();
    await given.end();
    await server.stop();
  });
  return { store, server };
};

describe.each(Object.keys(RESTRICTIONS) as (keyof typeof RESTRICTIONS)[])("%s", (restriction) => {
  test("each call of every structure ends as in memory", async () => {
    const { store, server } = await behind(restriction, "ioredis 6");
    expect(await driveAll(store)).toEqual(expected);
    expect(server.mostWords()).toBeLessThan(3999);
  });
});
