import { Redis } from "ioredis";
import { createClient } from "redis";
import { expect, test } from "vitest";
import { ioredisClient } from "../../../src/store/redis/ioredis.ts";
import { nodeRedisClient } from "../../../src/store/redis/node-redis.ts";
import { scripts } from "../../../src/store/redis/scripting.ts";

/** Nobody listens here; no test gets so far as to connect. */
const url = "redis://127.0.0.1:1";

test("a closed store does not connect a client of node-redis again", async () => {
  const client = createClient({ url });
  const adapter = nodeRedisClient(client, scripts);
  await adapter.close();
  await expect(adapter.whenReady()).rejects.toThrow("the store was closed");
  expect(client.isOpen).toBe(false);
});

test("a closed store does not connect a lazy client of ioredis", async () => {
  const client = new Redis(url, { lazyConnect: true });
  const adapter = ioredisClient(client, false, scripts);
  await adapter.close();
  await expect(adapter.whenReady()).rejects.toThrow("the store was closed");
  expect(client.status).toBe("wait");
});
