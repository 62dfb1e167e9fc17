import { getEventListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { memoryStore, redisStore, Semaphore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { startRedis } from "../harness/servers/redis-server.ts";

test("callers that share a signal add one listener to it, and all reject when it aborts", async () => {
  const semaphore = new Semaphore(memoryStore(), "exports", { limit: 3 });
  const held = await Promise.all([1, 2, 3].map(() => semaphore.acquire({ lease: "60s" })));
  const shutdown = new AbortController();
  const { signal } = shutdown;
  const waits = Array.from({ length: 50 }, () => semaphore.acquire({ wait: "60s", signal }));
  const reasons = Promise.all(waits.map((each) => each.catch((reason: unknown) => reason)));
  await pause(20);
  expect(getEventListeners(signal, "abort").length).toBe(1);
  shutdown.abort("the end");
  expect(new Set(await reasons)).toEqual(new Set(["the end"]));
  for (const each of held) expect(await each.release()).toBe(true);
});

test("callers of many processes are all served, with few requests", async () => {
  const PROCESSES = 20;
  const server = await startRedis();
  let requests = 0;
  const startMs = performance.now();
  const stores = Array.from({ length: PROCESSES }, () => redisStore(server.url));
  try {
    const semaphores = stores.map((store) => {
      const counted: Store = {
        ...store,
        monotonic: store.monotonic,
        leaseClock: store.leaseClock,
        keyOf: (name) => store.keyOf(name),
        close: () => store.close(),
        subscribe: (channel, listener) => store.subscribe!(channel, listener),
        run(operation, key, input) {
          if (operation.name === "hold/take") requests++;
          return store.run(operation, key, input);
        },
      };
      return new Semaphore(counted, "exports", { limit: 3 });
    });
    let [inside, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++inside);
      await pause(1);
      inside--;
    };
    const callers = semaphores.flatMap((each) =>
      Array.from({ length: 50 }, () => each.withPermit(work, { wait: "60s" })),
    );
    await Promise.all(callers);
    expect(most).toBe(3);
    const ms = performance.now() - startMs;
    // A request comes from a caller that arrives, or that has the message of its permit, and from a look after 150 ms.
    expect(requests).toBeLessThan(2 * callers.length + (PROCESSES * ms) / 150);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  }
});
