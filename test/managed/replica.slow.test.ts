import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  Counters,
  Limiter,
  Lock,
  type OrielError,
  Series,
  type Store,
  slidingWindow,
} from "../../src/entries/index.ts";
import { type ReplicatedRedis, startReplicated, untilLinked } from "../harness/servers/replicas.ts";
import { openers, passLock } from "./openers.ts";

const DEADLINE_MS = 2000;
const REFUSED =
  /: the server is a replica, which takes no writes \(READONLY .*\); use the primary's address(; tried for 2000 ms)? \(redis at/;

let redis: ReplicatedRedis;
let raw: Redis;
beforeAll(async () => {
  redis = await startReplicated(1);
  raw = new Redis(redis.replicas[0]!.url);
});
afterAll(async () => {
  raw?.disconnect();
  await redis?.stop();
});
beforeEach(async () => {
  await raw.replicaof("127.0.0.1", redis.primary.port);
  await untilLinked(redis.replicas[0]!);
});

function callsOf(store: Store): Record<string, () => Promise<unknown>> {
  const series = new Series(store, "s", { retention: "1m" });
  const limiter = new Limiter(store, [slidingWindow({ limit: 5, span: "1m" })], { name: "l" });
  const counters = new Counters(store, "c", { dimensions: ["a"], shards: 1 });
  const lock = new Lock(store, "k");
  return {
    "record of a series": () => series.record(1),
    "take of a limiter": () => limiter.take("a"),
    "add of counters": () => counters.add({ a: "1" }),
    "tryLock of a lock": () => lock.tryLock(),
    // Reads as well. An answer of a replica may lack acknowledged writes.
    "stats of a series": () => series.stats(),
    "read of counters": () => counters.read(),
    "peek of a limiter": () => limiter.peek("a"),
    "isHeld of a lock": () => lock.isHeld(),
  };
}

test.each(Object.entries(openers))(
  "over %s: one clear error, nothing is acknowledged, and it recovers",
  async (of, open) => {
    const store = open(redis.replicas[0]!.url, { deadline: DEADLINE_MS });
    const calls = callsOf(store);
    const connectionsBefore = await connectionCount();
    const beganMs = performance.now();
    await Promise.all(
      Object.entries(calls).map(async ([what, call]) => {
        const error: OrielError = await call().then(
          () => expect.fail(`${what} was answered`),
          (reason) => reason,
        );
        expect(error.message, what).toMatch(REFUSED);
        expect(error, what).toMatchObject({ code: "UNAVAILABLE", applied: "no", transient: true });
      }),
    );
    const tookMs = performance.now() - beganMs;
    // A store by URL connects anew, in case that the name leads elsewhere now: at most every 250 ms.
    if (of === "a URL") expect((await connectionCount()) - connectionsBefore).toBeLessThanOrEqual(2 + tookMs / 250);
    // The server answers, so it is not down: the next call is sent.
    expect(store.health.state).toBe("up");
    expect(await raw.dbsize()).toBe(0);

    await raw.replicaof("NO", "ONE");
    for (const call of Object.values(calls)) await call();
    await passLock(store);
    await raw.flushall();
  },
);

async function connectionCount(): Promise<number> {
  return Number(/total_connections_received:(\d+)/.exec(await raw.info("stats"))![1]);
}
