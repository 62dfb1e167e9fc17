import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as oriel from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server?.stop());

/** The calls before the server freezes have as long, on a slow machine too. */
const DEADLINE_MS = 10_000;

type Open = (store: oriel.Store) => () => Promise<unknown>;
const limiter = (policy: oriel.Policy, store: oriel.Store) => {
  const it = new oriel.Limiter(store, [policy], { name: "api" });
  let n = 0;
  return () => it.take(`id${n++}`);
};

/** Calls that are sent once, and calls that are sent again. */
const CALLS: Record<string, Open> = {
  "Limiter.take": (store) => limiter(oriel.slidingWindow({ limit: 9, span: "1m" }), store),
  "Limiter.take, calendar window": (store) => limiter(oriel.calendarWindow({ limit: 9, every: "month" }), store),
  "Limiter.take with a requestId": (store) => {
    const it = new oriel.Limiter(store, [oriel.fixedWindow({ limit: 9, span: "1m" })], { name: "named" });
    let n = 0;
    return () => it.take("a", { requestId: `r${n++}` });
  },
  "Limiter.block": (store) => {
    const it = new oriel.Limiter(store, [oriel.fixedWindow({ limit: 9, span: "1m" })], { name: "blocked" });
    return () => it.block("a", 5);
  },
  "Lock.tryLock": (store) => {
    const it = new oriel.Lock(store, "job");
    return () => it.tryLock({ lease: 50 });
  },
  "Counters.add": (store) => {
    const it = new oriel.Counters(store, "views", { dimensions: ["page"] });
    return () => it.add({ page: "a" });
  },
  "DelayQueue.add": (store) => {
    const it = new oriel.DelayQueue(store, "mail");
    return () => it.add("x");
  },
};

const CLIENTS: Record<string, () => Promise<{ store: oriel.Store; end: () => unknown }>> = {
  "a URL": async () => ({ store: oriel.redisStore(server.url, { deadline: DEADLINE_MS }), end: () => {} }),
  "node-redis": async () => {
    const client = createClient({ url: server.url });
    client.on("error", () => {});
    await client.connect();
    return { store: oriel.redisStore(client, { deadline: DEADLINE_MS }), end: () => client.destroy() };
  },
};

describe.each(Object.keys(CLIENTS))("a server that freezes, and %s", (client) => {
  test("calls that were sent are DEADLINE, applied unknown; one that waits in order behind them was not sent", async () => {
    const opened = await Promise.all(Object.keys(CALLS).map(async () => CLIENTS[client]!()));
    try {
      const calls = Object.values(CALLS).map((open, i) => open(opened[i]!.store));
      for (const call of calls) await call();
      server.pause();
      const ended = await Promise.all(
        calls.map(async (call) => {
          const first = call().catch((error: unknown) => error);
          await new Promise((resolve) => setImmediate(resolve));
          return Promise.all([first, call().catch((error: unknown) => error)]);
        }),
      );
      const seen = Object.keys(CALLS).map((name, i) => [
        name,
        ...ended[i]!.map((error) => {
          const { code, applied, transient, message } = error as oriel.OrielError;
          return { code, applied, transient, says: /no answer from Redis within \d+ ms/.test(message) };
        }),
      ]);
      const late = { code: "DEADLINE", applied: "unknown", transient: true, says: true };
      const unsent = { code: "UNAVAILABLE", applied: "no", transient: true, says: false };
      // Counters send the events of a process in their order.
      const behind = (name: string) => (name === "Counters.add" ? unsent : late);
      expect(seen).toEqual(Object.keys(CALLS).map((name) => [name, late, behind(name)]));
    } finally {
      server.resume();
      await Promise.all(opened.map(({ store }) => store.close()));
      for (const { end } of opened) end();
    }
  });
});
