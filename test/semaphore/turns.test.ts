import { getEventListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { memoryStore, redisStore } from "../../src/entries/index.ts";
import { Semaphore } from "../../src/entries/structures/semaphore.ts";
import type { Member } from "../../src/semaphore/member.ts";
import type { Attempt, MemberHold } from "../../src/semaphore/member-hold.ts";
import { Turns } from "../../src/semaphore/turns.ts";
import type { Store } from "../../src/store/contract.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

test("a caller that gets two notices at once tries again, whichever comes first", async () => {
  for (const order of ["own first", "own last"]) {
    let onRelease = () => {};
    const member = {
      store: memoryStore(),
      subscribe(listener: () => void) {
        onRelease = listener;
        return () => {};
      },
    } as unknown as Member;
    const turns = new Turns([member], false);
    const hold = {} as MemberHold;
    let attempts = 0;
    const attempt = async (): Promise<Attempt> => {
      attempts++;
      return attempts === 1 ? { refusals: [{ isHeld: false, retryInMs: 60_000, busy: [] }] } : { hold };
    };
    const waits = turns.hold({ waitMs: 60_000, leaseMs: 1000, signal: undefined, isWatched: false }, attempt);
    await until("the first attempt", () => attempts === 1);
    await new Promise(setImmediate);
    if (order === "own first") turns.notify();
    onRelease(); // within 5 ms of the refusal
    if (order === "own last") turns.notify();
    expect(await Promise.race([waits, pause(500)])).toBe(hold);
  }
});

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

test.each([
  { servers: 1, asks: "hold/take", each: 50, processes: 20 },
  { servers: 3, asks: "semaphore/acquire", each: 15, processes: 10 },
])("callers of many processes on $servers servers are all served, with few requests", async (one) => {
  const server = await startRedis();
  const others = Array.from({ length: one.servers - 1 }, () => memoryStore());
  let requests = 0;
  const startMs = performance.now();
  const stores = Array.from({ length: one.processes }, () => redisStore(server.url));
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
          if (operation.name === one.asks) requests++;
          return store.run(operation, key, input);
        },
      };
      return new Semaphore(one.servers === 1 ? counted : [counted, ...others], "exports", { limit: 3 });
    });
    let [inside, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++inside);
      await pause(1);
      inside--;
    };
    const callers = semaphores.flatMap((each) =>
      Array.from({ length: one.each }, () => each.withPermit(work, { wait: "60s" })),
    );
    await Promise.all(callers);
    expect(most).toBe(3);
    const ms = performance.now() - startMs;
    // On one server a request comes from a caller that arrives, or that has the message of its permit, and from a look after 150 ms.
    // On several a release wakes one caller of each process, which guesses three times, and the first of a process asks again at times.
    const bound =
      one.servers === 1
        ? 2 * callers.length + (one.processes * ms) / 150
        : 3 * one.processes * (callers.length + ms / 100);
    expect(requests).toBeLessThan(bound);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  }
});
