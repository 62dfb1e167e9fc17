import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { Breaker, type BreakerOptions, redisStore, type Store } from "../../src/entries/index.ts";
import { startChild } from "../harness/child.ts";
import { onShiftedClock } from "../harness/clock/stepped-script.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { Held, toldBy } from "./contract/stage.ts";

let server: RedisServer;
let proxy: FaultProxy;
let near: Store;
let far: Store;
let round = 0;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
  near = redisStore(server.url);
});
beforeEach(() => {
  round++;
  far = redisStore(proxy.url, { deadline: 2000 });
});
afterEach(() => far.close());
afterAll(async () => {
  await near?.close();
  await proxy?.close();
  await server?.stop();
});

const breakerOn = (store: Store, options: Partial<BreakerOptions> = {}) =>
  new Breaker(store, { name: `faults ${round}`, span: "1m", failures: 3, cooldown: "1h", ...options });
const fail = (breaker: Breaker) => breaker.run(() => Promise.reject(new Error("bad"))).catch(({ code }) => code);
const good = (breaker: Breaker) => breaker.run(() => "good").catch(({ code }) => code);

test("a batch is sent again after a lost reply, and counts once", async () => {
  const [breaker, other] = [breakerOn(far), breakerOn(near)];
  await breaker.flush();
  proxy.dropReplies(1);
  const reported = toldBy(breaker);
  await fail(breaker);
  await until("the reply was lost", () => reported.includes("error"));
  await until("the store is back", () => breaker.flush().then(() => true));
  await other.flush();
  expect(other.stats()).toMatchObject({ state: "closed", calls: 1, failures: 1 });
  expect(breaker.stats()).toMatchObject({ state: "closed", calls: 1, failures: 1 });
});

test("while the store stands still calls do not wait; the process decides alone and reports later", async () => {
  const [breaker, other] = [breakerOn(far), breakerOn(near)];
  await breaker.flush();
  server.pause();
  try {
    for (let i = 0; i < 2; i++) expect(await fail(breaker)).toBeUndefined();
    expect(await good(breaker)).toBe("good");
    await expect(breaker.flush()).rejects.toMatchObject({ transient: true });
    await fail(breaker);
    expect(await good(breaker)).toBe("OPEN");
  } finally {
    server.resume();
  }
  await until("the store is back", () => breaker.flush().then(() => true));
  await other.flush();
  expect(other.stats().state).toBe("open");
  expect(breaker.stats().state).toBe("open");
});

test("while the store is away an open circuit stays open, and the process probes alone; then the shared state applies", async () => {
  const breaker = breakerOn(far, { cooldown: 50 });
  for (let i = 0; i < 3; i++) await fail(breaker);
  await breaker.flush();
  expect(breaker.stats().state).toBe("open");
  proxy.refuse(true);
  proxy.cut();
  try {
    await until("a probe of its own went well", async () => (await good(breaker)) === "good");
    expect(breaker.stats().state).toBe("closed");
    expect(await good(breaker)).toBe("good");
  } finally {
    proxy.refuse(false);
  }
  await until("the store is back, and its state open", async () => {
    await breaker.flush();
    return breaker.stats().state === "open";
  });
  await until("a probe for the fleet went well", async () => (await good(breaker)) === "good");
  await breaker.flush();
  expect(breaker.stats().state).toBe("closed");
});

test("foreign data under the key: calls continue, and the error is emitted once", async () => {
  const breaker = breakerOn(near, { name: "odd" });
  const reported: unknown[] = [];
  breaker.on("error", ({ error }) => void reported.push(error));
  const { Redis } = await import("ioredis");
  const redis = new Redis(server.url);
  await redis.set(`${near.keyOf("odd")}:breaker:60000`, "another program's");
  await redis.quit();
  for (let i = 0; i < 3; i++) await fail(breaker);
  await expect(breaker.flush()).rejects.toMatchObject({ code: "CORRUPT" });
  await fail(breaker);
  await fail(breaker);
  await fail(breaker);
  expect(await good(breaker)).toBe("OPEN");
  expect(reported).toMatchObject([{ code: "CORRUPT" }]);
});

test("a record with an invalid time makes the flush CORRUPT, and the server continues", async () => {
  const breaker = breakerOn(near, { name: "no time" });
  await fail(breaker);
  await breaker.flush();
  const { Redis } = await import("ioredis");
  const redis = new Redis(server.url);
  const key = `${near.keyOf("no time")}:breaker:60000`;
  const time = Buffer.alloc(8);
  time.writeDoubleLE(Number.NaN);
  await redis.setrange(key, (await redis.strlen(key)) - 20, time);
  await expect(breaker.flush()).rejects.toMatchObject({ code: "CORRUPT" });
  expect(await redis.ping()).toBe("PONG");
  await redis.quit();
});

test("a process is killed while it probes: another one probes after the lease", async () => {
  const name = `killed ${round}`;
  const options = { name, failures: 1, cooldown: 1, lease: "1h" as const };
  const child = startChild(new URL("./child.ts", import.meta.url), [server.url, JSON.stringify(options)]);
  await child.printed(1);
  await child.kill();
  const [beginMs, overMs] = [1, 3_600_001];
  let aheadMs = beginMs;
  const later = redisStore(server.url, {
    scriptOf: onShiftedClock(() => aheadMs),
    monotonic: () => performance.now() + aheadMs,
  });
  onTestFinished(() => later.close());
  const breaker = breakerOn(later, options);
  await breaker.flush();
  expect(breaker.stats().state).toBe("half-open");
  expect(await good(breaker)).toBe("OPEN");
  aheadMs = overMs;
  await until("the lease is over", async () => (await good(breaker)) === "good");
  await breaker.flush();
  expect(breaker.stats().state).toBe("closed");
});

test("many concurrent probes over two connections: exactly `probes` begin", async () => {
  const breakers = [near, far].map((store) => breakerOn(store, { failures: 1, cooldown: 1, probes: 3 }));
  await fail(breakers[0]!);
  for (const breaker of breakers) await breaker.flush();
  await until("the cooldown is over", () => breakers.every((each) => each.stats().retryAfterMs === 0));
  const held = breakers.flatMap((breaker) => Array.from({ length: 10 }, () => new Held(breaker)));
  await until("seventeen were rejected", async () => {
    const ended = held.map(({ ended: of }) => Promise.race([of, Promise.resolve("runs")]));
    return (await Promise.all(ended)).filter((each) => each === "OPEN").length === 17;
  });
  expect(held.filter(({ hasBegun }) => hasBegun)).toHaveLength(3);
  await Promise.all(held.map((each) => each.end()));
  for (const breaker of breakers) await breaker.flush();
  for (const breaker of breakers) await breaker.flush();
  expect(breakers.map((each) => each.stats().state)).toEqual(["closed", "closed"]);
});
