import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type Decision,
  fixedWindow,
  Limiter,
  localDecisions,
  type OrielError,
  redisStore,
  slidingWindow,
} from "../../../src/entries/index.ts";
import type { LimiterOptions } from "../../../src/limits/limiter/options.ts";
import type { Policy } from "../../../src/limits/limiter/policies.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";

let server: RedisServer;
let raw: Redis;
let proxy: FaultProxy;
const opened: Store[] = [];
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
});
beforeEach(async () => {
  await raw.flushall();
  proxy = await startProxy(server.port);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  await proxy.close();
});
afterAll(async () => {
  raw?.disconnect();
  await server?.stop();
});

function open(url: string, deadlineMs: number): Store {
  const store = redisStore(url, { deadline: deadlineMs });
  opened.push(store);
  return store;
}
/** Calls one after the other until `isOver`. */
async function loop(isOver: () => boolean, call: () => Promise<void>): Promise<void> {
  while (!isOver()) {
    await call();
    await pause(3);
  }
}

const DEADLINE_MS = 1000;
const STALL_MS = 5000;
/** Generous for a busy machine, yet nothing beside the stall. */
const LATEST_MS = DEADLINE_MS + 2000;
const LIMIT = 10_000;

const stalls: Record<string, { begin(): void; end(): void }> = {
  "stands still": { begin: () => server.pause(), end: () => server.resume() },
  "answers late": { begin: () => proxy.delay(STALL_MS), end: () => proxy.delay(0) },
};

test.each(Object.keys(stalls))("T30 a server that %s for 5 s", async (how) => {
  const store = open(proxy.url, DEADLINE_MS);
  const truth = new Limiter(open(server.url, 20_000), [slidingWindow({ limit: LIMIT, span: "1h" })], { name: "api" });
  const limiterOf = (options: Partial<LimiterOptions>) =>
    new Limiter(store, [slidingWindow({ limit: LIMIT, span: "1h" })], { name: "api", ...options });
  const [local, strict] = [limiterOf({ onStoreError: localDecisions({ share: 0.5 }) }), limiterOf({})];
  await strict.peek("warm");
  const used = async (id: string) => LIMIT - (await truth.peek(id)).remaining;
  let latestMs = 0;
  const timed = async <Result>(call: Promise<Result>) => {
    const startMs = performance.now();
    const settled = await call.catch((error: OrielError) => error);
    latestMs = Math.max(latestMs, performance.now() - startMs);
    return settled;
  };

  const reported = new Map<string, Promise<Decision | OrielError>>();
  const hot: Promise<Decision | OrielError>[] = [];
  stalls[how]!.begin();
  for (const endMs = performance.now() + STALL_MS; performance.now() < endMs; await pause(50)) {
    const n = hot.length;
    hot.push(timed(local.take("hot")));
    reported.set(`strict${n}`, timed(strict.take(`strict${n}`)));
    reported.set(`local${n}`, timed(local.take(`local${n}`)));
    reported.set(`request${n}`, timed(strict.take(`request${n}`, { requestId: `r${n}` })));
  }
  stalls[how]!.end();
  await Promise.all([...reported.values(), ...hot]);
  expect(latestMs).toBeLessThan(LATEST_MS);

  // Not wedged: once it has answered, every call is answered by the store.
  await until("the store answers", async () => !(await local.peek("warm")).degraded);
  const after = await Promise.all(Array.from({ length: 50 }, () => local.take("after")));
  for (let i = 0; i < 50; i++) after.push(await local.take("after"));
  expect(after.filter(({ allowed, degraded }) => allowed && !degraded)).toHaveLength(100);
  expect(await used("after")).toBe(100);

  // The process was asked once for each call that it decided: each of them took one of its permits.
  const decided = (await Promise.all(hot)) as Decision[];
  const alone = decided.filter(({ degraded }) => degraded).map(({ remaining }) => remaining);
  expect(alone.length).toBeGreaterThan(10);
  expect(alone.sort((a, b) => b - a)).toEqual(alone.map((_, i) => LIMIT / 2 - 1 - i));
  const byStore = decided.length - alone.length;
  expect(await used("hot")).toBeGreaterThanOrEqual(byStore);
  expect(await used("hot")).toBeLessThanOrEqual(decided.length);

  let unknown = 0;
  for (const [id, settled] of reported) {
    const outcome = await settled;
    const count = await used(id);
    if ("allowed" in outcome && !outcome.degraded) expect([id, count]).toEqual([id, 1]);
    else if ("applied" in outcome && outcome.applied === "no") expect([id, count]).toEqual([id, 0]);
    else {
      expect([0, 1]).toContain(count);
      unknown++;
    }
    if (!id.startsWith("request")) continue;
    // A call without an answer is repeated, and counts once, whatever the outcome of the first.
    expect(await strict.take(id, { requestId: id.replace("request", "r") })).toMatchObject({ allowed: true });
    expect([id, await used(id)]).toEqual([id, 1]);
  }
  expect(unknown).toBeGreaterThan(10);
});

const SPAN_MS = 500;
const PER_SPAN = 20;

/** One answer of the store, in ms of its clock since some instant, which is the same for all. */
interface Reported {
  atMs: number;
  windowEndMs: number;
  allowed: boolean;
}

/** Nobody is refused while a permit is left, nobody passes without one. */
const laws: Record<string, { policy: Policy; check(reported: readonly Reported[]): void }> = {
  "fixed window": {
    policy: fixedWindow({ limit: PER_SPAN, span: SPAN_MS, aligned: true }),
    check(reported) {
      const ends = new Set(reported.map(({ windowEndMs }) => windowEndMs));
      expect(ends.size).toBeGreaterThan(6);
      for (const endMs of ends) {
        const calls = reported.filter(({ windowEndMs }) => windowEndMs === endMs);
        expect(calls.filter(({ allowed }) => allowed)).toHaveLength(Math.min(PER_SPAN, calls.length));
        expect(Math.abs(endMs - reported[0]!.windowEndMs) % SPAN_MS).toBe(0);
      }
    },
  },
  "sliding window": {
    policy: slidingWindow({ limit: PER_SPAN, span: SPAN_MS }),
    check(reported) {
      const passed = reported.filter(({ allowed }) => allowed);
      expect(passed.length).toBeGreaterThan(6 * PER_SPAN);
      for (const { atMs, allowed } of reported) {
        const inside = passed.filter((each) => atMs - SPAN_MS < each.atMs && each.atMs <= atMs).length;
        if (allowed) expect(inside).toBeLessThanOrEqual(PER_SPAN);
        else expect(inside).toBe(PER_SPAN);
      }
    },
  },
};

test.each(Object.keys(laws))(
  "T33 a partition for three windows, then healed: %s, exact on the server's clock",
  async (law) => {
    const { policy, check } = laws[law]!;
    // It begins with the first call and outlasts the test: what is left of it is the server's time of a call.
    const hour = fixedWindow({ limit: LIMIT, span: "1h", name: "hour" });
    const limiterOf = (store: Store) =>
      new Limiter(store, [policy, hour], { name: "api", onStoreError: localDecisions() });
    const [far, near] = [limiterOf(open(proxy.url, DEADLINE_MS)), limiterOf(open(server.url, 20_000))];
    const reported: Reported[] = [];
    let alone = 0;
    const take = async (limiter: Limiter) => {
      const { allowed, degraded, policies } = await limiter.take("a");
      const [window, whole] = policies.map(({ resetAfterMs }) => resetAfterMs) as [number, number];
      if (degraded) alone++;
      else reported.push({ atMs: -whole, windowEndMs: window - whole, allowed });
    };
    const untilLater = (spans: number) => {
      const endMs = performance.now() + spans * SPAN_MS;
      return () => performance.now() >= endMs;
    };

    let isOver = false;
    const nearby = loop(
      () => isOver,
      () => take(near),
    );
    await loop(untilLater(2.5), () => take(far));
    expect(alone).toBe(0);
    // The partition begins between a step and its answer.
    proxy.refuse(true);
    proxy.dropReplies(1);
    expect(await far.take("lost")).toMatchObject({ allowed: true, degraded: true });
    await loop(untilLater(3.2), async () => void (await Promise.all([take(far), take(far), take(far)])));
    const duringIt = alone;
    expect(duringIt).toBeGreaterThan(3);
    proxy.refuse(false);
    await until("the store answers", async () => !(await far.peek("b")).degraded);
    await loop(untilLater(2.5), () => take(far));
    isOver = true;
    await nearby;
    expect(alone).toBe(duringIt);

    check(reported);
    // Every answered call is counted, lost answers too, and no local decision is.
    const usedIn = async (id: string) => LIMIT - (await near.peek(id)).policies[1]!.remaining;
    expect(await usedIn("a")).toBe(reported.filter(({ allowed }) => allowed).length);
    expect(await usedIn("lost")).toBe(1);
  },
);
