import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../../src/store/contract.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { clients } from "../contract/clients.ts";
import { append, tally } from "../ops/operations.ts";

const input = (text: string) => ({ bytes: Buffer.from(text), maxBytes: 1e9, lifetimeMs: 0 });

/** A client of the store's own, and passed-in clients. Some of them retry by default. */
const connections: Record<string, (url: string) => { client: Parameters<typeof redisStore>[0]; end(): void }> = {
  "our own": (url) => ({ client: url, end: () => {} }),
  ...Object.fromEntries(Object.entries(clients).map(([name, connect]) => [`a handed-in ${name}`, connect])),
};

let server: RedisServer;
let raw: Redis;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
});
afterAll(async () => {
  raw?.disconnect();
  await server?.stop();
});

describe.each(Object.entries(connections))("%s", (_name, connect) => {
  let proxy: FaultProxy;
  let store: Store;
  /** Its calls are to end without an answer. */
  let hasty: Store;
  let client: ReturnType<typeof connect>["client"];
  let end: () => void;
  let key: string;
  const sent = () => proxy.handedOn.get("EVALSHA") ?? 0;
  beforeEach(async () => {
    await raw.flushall();
    proxy = await startProxy(server.port);
    ({ client, end } = connect(proxy.url));
    store = redisStore(client, { deadline: 10_000 });
    hasty = redisStore(client, { deadline: 900 });
    key = store.keyOf("k");
    for (const each of [store, hasty]) {
      await until("it has appended", async () => (await each.run(append, key, input("x"))).length > 0);
      await until("it has counted", async () => (await each.run(tally, store.keyOf("t"), "warm")) > 0);
    }
    await raw.del(key);
    proxy.handedOn.clear();
  });
  afterEach(async () => {
    await Promise.all([store.close(), hasty.close()]);
    end();
    await proxy.close();
  });

  for (const then of ["cut", "silence"] as const) {
    test(`a lost reply (${then}): a repeatable call is sent again and counts once`, async () => {
      proxy.dropReplies(1, { then });
      // Our own client gives up a connection that owes an answer and is silent; others' go on until something ends it.
      if (then === "silence" && typeof client !== "string") setTimeout(() => proxy.cut(), 350);
      expect(await store.run(tally, key, "0001")).toBe(1);
      expect(sent()).toBe(2);
      expect(await raw.get(key)).toBe("0001");
    });

    test(`a lost reply (${then}): any other call is not sent again, and may have been applied`, async () => {
      proxy.dropReplies(1, { then });
      const code = then === "cut" ? "UNAVAILABLE" : "DEADLINE";
      await expect(hasty.run(append, key, input("x"))).rejects.toMatchObject({ code, applied: "unknown" });
      proxy.cut();
      // Down, if it was not made again within 50 ms, until a probe is answered.
      await until("it goes on", async () => (await hasty.run(tally, store.keyOf("t"), "warm")) === 1);
      expect(await raw.get(key)).toBe("x");
    });
  }

  test("a lost request: nothing is applied, and a repeatable call succeeds", async () => {
    proxy.dropRequests(1);
    await expect(store.run(append, key, input("x"))).rejects.toMatchObject({ applied: "unknown" });
    expect(await raw.exists(key)).toBe(0);
    await until("it goes on", async () => (await store.run(tally, store.keyOf("t"), "warm")) === 1);
    proxy.dropRequests(1);
    expect(await store.run(tally, key, "0001")).toBe(1);
  });

  test("a refusal of a repeated call does not claim that nothing was applied", async () => {
    proxy.dropReplies(1);
    const limited = { ...append, repeatable: true };
    const run = store.run(limited, key, { ...input("abc"), maxBytes: 5 });
    await expect(run).rejects.toMatchObject({ code: "TOO_LARGE", applied: "unknown" });
  });

  test("one fault after another: repeatable calls count once, others at most once", async () => {
    const patient = redisStore(client, { deadline: 10_000 });
    const faults = [() => proxy.dropReplies(1), () => proxy.dropRequests(1), () => proxy.cut(), () => {}];
    let acknowledged = 0;
    let unknown = 0;
    for (let i = 0; i < 24; i++) {
      faults[i % 4]!();
      expect(await patient.run(tally, key, String(1000 + i))).toBe(i + 1);
      faults[i % 3]!();
      try {
        await patient.run(append, store.keyOf("a"), input("x"));
        acknowledged++;
      } catch (error) {
        expect(error).toMatchObject({ code: "UNAVAILABLE", applied: "unknown" });
        unknown++;
      }
    }
    await patient.close();
    const length = await raw.strlen(store.keyOf("a"));
    expect(length).toBeGreaterThanOrEqual(acknowledged);
    expect(length).toBeLessThanOrEqual(acknowledged + unknown);
  });

  test("slow replies within the deadline are waited for", async () => {
    proxy.delay(100);
    expect((await store.run(append, key, input("x"))).length).toBe(1);
    expect(sent()).toBe(1);
  });

  test("no connection for longer than the deadline: UNAVAILABLE, not applied; then calls succeed", async () => {
    proxy.refuse(true);
    proxy.cut();
    // The first may still have been written to the connection that was cut.
    await expect(hasty.run(tally, key, "0001")).rejects.toMatchObject({ name: "OrielError", transient: true });
    await expect(hasty.run(tally, key, "0001")).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "no" });
    expect(sent()).toBe(0);
    proxy.refuse(false);
    await until("it goes on", async () => (await hasty.run(tally, key, "0001")) === 1);
  });
});
