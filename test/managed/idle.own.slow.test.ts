import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Limiter, Lock, redisStore, Series, slidingWindow, type WatchedStore } from "../../src/entries/index.ts";
import { holdingTimers } from "../harness/clock/held-timers.ts";
import { atEnd } from "../harness/ends.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { type Cut, type IdleProxy, startIdleProxy } from "./idle-proxy.ts";
import { openers } from "./openers.ts";

const HEARTBEAT_MS = 20_000;
/** After which a connection that owes an answer is closed: by clients that a user passes, and by the store's own. */
const CLOSED_MS = 4000;
const DEADLINE_MS = (3 / 2) * CLOSED_MS;

const INTERVALS = ["setInterval", "clearInterval"] as const;

let server: RedisServer;
let proxy: IdleProxy;
const unhandled: unknown[] = [];
const note = (error: unknown) => unhandled.push(error);
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
beforeEach(async () => {
  proxy = await startIdleProxy(server.port);
  process.on("unhandledRejection", note);
  vi.useFakeTimers({ toFake: [...INTERVALS] });
});
afterEach(async () => {
  vi.useRealTimers();
  await proxy.close();
  process.off("unhandledRejection", note);
  expect(unhandled.splice(0)).toEqual([]);
});
afterAll(() => server?.stop());

/** A call of each kind, one that may be sent again and one that may not. */
function callsOf(store: WatchedStore, name: string) {
  const series = new Series(store, name, { retention: "10m" });
  const limiter = new Limiter(store, [slidingWindow({ limit: 1000, span: "1h" })], { name });
  const lock = new Lock(store, name);
  return async () => {
    const held = await lock.tryLock({ lease: "1m" });
    await Promise.all([series.record(1), limiter.take("u")]);
    expect(await held!.release()).toBe(true);
  };
}

/**
 * A caller that waits for a lock through the proxy. The function releases it, over a connection that nothing cuts. Only
 * a message wakes the caller then: it would look by itself after some seconds, for which it has no timer.
 */
async function waiting(store: WatchedStore, name: string) {
  const direct = redisStore(server.url);
  atEnd(() => direct.close());
  const held = await new Lock(direct, name).tryLock({ lease: "1m" });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hears = holdingTimers(2000, async () => {
    const waiter = new Lock(store, name).tryLock({ wait: "30s" });
    await until("it waits", async () => (await new Lock(direct, name).inspect()).waitingProcesses === 1);
    await released;
    await held!.release();
    expect(await (await waiter)!.release()).toBe(true);
  });
  await until("it waits", async () => (await new Lock(direct, name).inspect()).waitingProcesses === 1);
  return () => {
    release();
    return hears;
  };
}

describe.each(["FIN", "RST"] as Cut[])("a proxy cuts idle connections (%s)", (how) => {
  test.each(Object.entries(openers))("%s: the next calls succeed, and waiters still hear", async (of, open) => {
    // From before the store is opened: one that finds other timers while it connects again replaces its client.
    await holdingTimers(2000, async () => {
      const store = open(proxy.url);
      const failures: unknown[] = [];
      store.on("error", (failure) => void failures.push(failure));
      const call = callsOf(store, `${how} ${of}`);
      for (let i = 0; i < 3; i++) {
        const release = await waiting(store, `waited ${how} ${of} ${i}`);
        await call();
        const before = proxy.open;
        expect(before).toBeGreaterThanOrEqual(2);
        proxy.cut(how);
        await call();
        await until("both connections are open again", () => proxy.open >= before);
        await release();
      }
      expect(store.health.state).toBe("up");
      expect(failures).toEqual([]);
    });
  });
});

describe("a proxy drops connections without notice", () => {
  const given = { socketTimeout: CLOSED_MS, deadline: DEADLINE_MS };
  /** From now on time passes in steps only, so the server may be slow. */
  const stepTime = () => vi.useFakeTimers({ toFake: [...INTERVALS, "setTimeout", "clearTimeout", "performance"] });
  const reconnecting = Object.entries(openers).filter(([of]) => !of.startsWith("node-redis"));

  test.each(reconnecting)("%s: calls that may be sent again succeed within their deadline", async (of, open) => {
    stepTime();
    const store = open(proxy.url, given);
    const series = new Series(store, of, { retention: "10m" });
    const limiter = new Limiter(store, [slidingWindow({ limit: 9, span: "1h" })], { name: of });
    await Promise.all([series.record(1), limiter.take("u")]);
    proxy.cut("drop");
    // A take without a requestId is not sent again, because it might count twice.
    const calls = Promise.all([
      series.record(2),
      limiter.take("u", { requestId: "r" }),
      limiter.take("u").catch((error) => error),
    ]);
    const before = proxy.accepted;
    await until("it connects again", () => {
      vi.advanceTimersByTime(50);
      return proxy.accepted > before;
    });
    // A call that was lost with its connection pauses before it is sent again. Then no more time passes.
    for (let stepMs = 0; stepMs < 400; stepMs += 50) {
      vi.advanceTimersByTime(50);
      await new Promise(setImmediate);
    }
    const [, , unsure] = await calls;
    expect(unsure).toMatchObject({ applied: "unknown", transient: true });
    expect([(await limiter.peek("u")).remaining, (await series.stats()).count]).toEqual([7, 2]);
    expect(store.health.state).toBe("up");
  });

  test("listening connections notice it by their heartbeat, and only then are opened again", async () => {
    const stores = Object.values(openers).map((open) => open(proxy.url));
    const releases = await Promise.all(stores.map((store, i) => waiting(store, `dropped ${i}`)));
    const direct = redisStore(server.url);
    atEnd(() => direct.close());
    let heard = 0;
    const established = stores.map(() => 0);
    for (const [i, store] of stores.entries())
      store.subscribe!("hint", (message) => (message === undefined ? established[i]!++ : heard++));
    await until("all listen", () => !established.includes(0));
    // A machine that stands still for a second looks like a server that does not answer.
    await until("a heartbeat opens no connection", async () => {
      const before = proxy.accepted;
      vi.advanceTimersByTime(HEARTBEAT_MS);
      await new Promise((resolve) => setTimeout(resolve, 1300));
      return proxy.accepted === before;
    });
    const before = [...established];

    // Those for commands stay open: nobody waits for a deadline.
    proxy.cut("drop", "listening");
    vi.advanceTimersByTime(HEARTBEAT_MS);
    await until("all listen again", () => established.every((times, i) => times > before[i]!));
    await Promise.all(releases.map((release) => release()));
    expect(heard).toBe(0);
  });
});

describe.each(["FIN", "drop"] as Cut[])("a proxy cuts connections that are silent for a minute (%s)", (how) => {
  test("a URL: heartbeats keep both connections open", async () => {
    const store = openers["a URL"]!(proxy.url);
    const call = callsOf(store, `beat ${how}`);
    const release = await waiting(store, `waited beat ${how}`);
    await call();
    for (let i = 0; i < 9; i++) {
      proxy.step(HEARTBEAT_MS, how);
      vi.advanceTimersByTime(HEARTBEAT_MS);
      await until("both have sent something", () => proxy.silentMs === 0);
    }
    expect(proxy).toMatchObject({ cuts: 0, open: 2 });
    await call();
    await release();
  });
});
