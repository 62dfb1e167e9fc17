import { tracingChannel } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "../../src/store/redis.ts";
import { startRedis } from "../harness/redis-server.ts";
import { clients } from "./clients.ts";
import { append } from "./ops/operations.ts";

let server: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

test("a client that is traced reads what it is handed: that is no second writing", async () => {
  const told: string[] = [];
  const subscriber = { start: (context: object) => void told.push((context as { command: string }).command) };
  const channel = tracingChannel("node-redis:command");
  channel.subscribe(subscriber as never);
  const { client, end } = clients["node-redis 5"](server.url);
  const store = redisStore(client);
  try {
    const answer = await store.run(append, store.keyOf("k"), { bytes: Buffer.from("ab"), mostBytes: 9, lifetimeMs: 0 });
    expect(answer.length).toBe(2);
    expect(told).toContain("EVALSHA");
  } finally {
    channel.unsubscribe(subscriber as never);
    await store.close();
    end();
  }
});
