import { Cluster, Redis } from "ioredis";
import { afterEach, expect, test, vi } from "vitest";
import { fixedWindow, Limiter, recordHistory, redisStore, type Store, slidingWindow } from "../../src/entries/index.ts";
import { readOutcomes } from "../../src/operate/history/read-outcomes.ts";
import type { RedisStoreOptions } from "../../src/store/redis/client-store.ts";
import { redisStore as plainStore } from "../../src/store/redis/redis.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

interface HeldTimer {
  readonly ms: number;
  readonly run: () => void;
  isUnref: boolean;
}

const { setTimeout: realTimeout } = globalThis;
afterEach(() => {
  globalThis.setTimeout = realTimeout;
  vi.restoreAllMocks();
});

/** The timers of histories are held until the test runs them. */
function holdTimers(): HeldTimer[] {
  const held: HeldTimer[] = [];
  const holding = (run: () => void, ms = 0, ...args: []) => {
    if (!new Error().stack!.includes("history/recorder.ts")) return realTimeout(run, ms, ...args);
    const timer = { ms, run, isUnref: false };
    held.push(timer);
    return { unref: () => void Object.assign(timer, { isUnref: true }) };
  };
  globalThis.setTimeout = holding as unknown as typeof setTimeout;
  return held;
}

/** A store on a client whose commands are noted, with a monotonic clock that the test steps. */
async function opened(options: RedisStoreOptions = {}) {
  const client = new Redis((await redis()).url);
  const sent: string[] = [];
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    sent.push(command.name.toLowerCase());
    return send(command, stream);
  };
  const clock = { nowMs: 0 };
  const store = redisStore(client, { deadline: "1s", onWarning: null, monotonic: () => clock.nowMs, ...options });
  atEnd(async () => {
    globalThis.setTimeout = realTimeout;
    await store.close();
    client.disconnect();
  });
  return { store, clock, sent };
}

/** The sums of a limiter's history, as a process that only looks sees them. */
async function sumsOf(name: string): Promise<Record<string, number>> {
  const store = plainStore((await redis()).url, { registry: false, onWarning: null });
  const { outcomes } = await readOutcomes(store, "Limiter", name, () => 0);
  await store.close();
  return Object.fromEntries(
    outcomes.map(({ outcome, past }) => [outcome, past.reduce((sum, { count }) => sum + count, 0)]),
  );
}

const limiterOf = (store: Store, name: string, limit = 1000) =>
  new Limiter(store, [fixedWindow({ limit, span: "1h" })], { name });

test("calls are counted by themselves: one request in 10 s, none when nothing happened, and no timer keeps a process", async () => {
  const held = holdTimers();
  const { store, clock, sent } = await opened();
  const limiter = limiterOf(store, "own");
  expect(held).toEqual([]);
  for (let i = 0; i < 5; i++) await limiter.take("a");
  expect(held.map(({ ms, isUnref }) => [ms, isUnref])).toEqual([[10_000, true]]);
  let sentMs = 0;
  for (let report = 1; report <= 4; report++) {
    clock.nowMs += held[0]!.ms;
    expect(clock.nowMs - sentMs).toBeGreaterThanOrEqual(9950);
    expect(clock.nowMs - sentMs).toBeLessThanOrEqual(20_000);
    sentMs = clock.nowMs;
    sent.length = 0;
    held.shift()!.run();
    await until(`report ${report} is stored`, async () => (await sumsOf("own")).allowed === 5 * report);
    // The first one brings the scripts, and the line that lists the count.
    if (report > 1) expect(sent).toEqual(["evalsha"]);
    expect(held).toEqual([]);
    for (let i = 0; i < 5; i++) await limiter.take("a");
    expect(held).toHaveLength(1);
  }
});

test("many limiters and their denied ids are one request of two script calls", async () => {
  const held = holdTimers();
  const { store, clock, sent } = await opened();
  const limiters = Array.from({ length: 20 }, (_, i) => limiterOf(store, `many ${i}`, 3));
  const takeAll = async () => {
    for (let i = 0; i < 5; i++) await Promise.all(limiters.map((each) => each.take("a")));
  };
  await takeAll();
  await recordHistory(store).flush(); // brings the scripts
  clock.nowMs += 20_000;
  await takeAll(); // and the announcement
  held.length = 1;
  sent.length = 0;
  held.shift()!.run();
  await until("all are stored again", async () => (await sumsOf("many 19")).denied === 7);
  expect(sent).toEqual(["evalsha", "evalsha"]);
  for (let i = 0; i < 20; i++) expect(await sumsOf(`many ${i}`)).toEqual({ allowed: 3, denied: 7 });
});

test.each([{ history: false }, { registry: false }])("with %o nothing is counted", async (option) => {
  const held = holdTimers();
  const { store } = await opened(option);
  const limiter = limiterOf(store, `off ${JSON.stringify(option)}`);
  await limiter.take("a");
  expect(held).toEqual([]);
  const history = recordHistory(store);
  await limiter.take("a");
  await history.close();
  expect(await sumsOf(limiter.name)).toEqual({ allowed: 1 });
});

test("recordHistory counts nothing twice, and its close ends what the store began", async () => {
  holdTimers();
  const { store } = await opened();
  const limiter = limiterOf(store, "once");
  await limiter.take("a");
  const history = recordHistory(store);
  expect(recordHistory(store)).toBe(history);
  await limiter.take("a");
  await history.flush();
  expect(await sumsOf("once")).toEqual({ allowed: 2 });
  await history.close();
  await limiter.take("a");
  await history.flush();
  expect(await sumsOf("once")).toEqual({ allowed: 2 });
});

test.each([
  ["that is full", 4, ["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"]],
  [
    "that has too few replicas",
    4,
    ["CONFIG", "SET", "min-replicas-to-write", "1"],
    ["CONFIG", "SET", "min-replicas-to-write", "0"],
  ],
  [
    // The script has begun, so nobody knows what it did.
    "that forbids a command of the report",
    1,
    ["ACL", "SETUSER", "default", "-setrange"],
    ["ACL", "SETUSER", "default", "+setrange"],
  ],
])("a server %s disturbs nobody, and at the end %i of 4 calls are counted", async (_, kept, refuse, permit) => {
  const held = holdTimers();
  const warned = vi.spyOn(process, "emitWarning");
  const admin = new Redis((await redis()).url);
  atEnd(() => admin.disconnect());
  const { store, clock, sent } = await opened();
  const name = `refused ${refuse.join(" ")}`;
  const limiter = limiterOf(store, name);
  for (let i = 0; i < 3; i++) await limiter.take("a");
  await admin.call(...(refuse as [string]));
  try {
    sent.length = 0;
    held.shift()!.run();
    await until("the report was sent", () => sent.length > 0);
  } finally {
    await admin.call(...(permit as [string]));
  }
  clock.nowMs += 20_000;
  await limiter.take("a");
  // Some refusals are final, and others are sent again.
  await until("the counts are stored", async () => {
    await recordHistory(store).flush();
    return (await sumsOf(name)).allowed === kept;
  });
  await recordHistory(store).flush();
  expect(await sumsOf(name)).toEqual({ allowed: kept });
  expect(warned).not.toHaveBeenCalled();
  expect(store.health.state).toBe("up");
});

test("a report after close sends nothing, and does not reject", async () => {
  const held = holdTimers();
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  atEnd(() => void process.removeListener("unhandledRejection", unhandled));
  const { store, sent } = await opened();
  await limiterOf(store, "closed").take("a");
  await store.close();
  sent.length = 0;
  held.shift()!.run();
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([]);
  expect(await sumsOf("closed")).toEqual({});
  expect(unhandled).not.toHaveBeenCalled();
});

test("timers that a test has faked, and that never end, do not end the history", async () => {
  const faked = holdTimers();
  const { store } = await opened();
  const limiter = limiterOf(store, "faked");
  await limiter.take("a");
  expect(faked).toHaveLength(1);
  const held = holdTimers();
  await limiter.take("a");
  expect(held).toHaveLength(1);
  held.shift()!.run();
  await until("both are stored", async () => (await sumsOf("faked")).allowed === 2);
});

test("the counts of a cluster's structures are in one slot, and add up", async () => {
  const cluster = await startCluster(2);
  const client = new Cluster([cluster.url]);
  const store = redisStore(client, { onWarning: null });
  atEnd(async () => {
    await store.close();
    client.disconnect();
    await cluster.stop();
  });
  const policies = [slidingWindow({ limit: 2, span: "1h" })];
  const limiters = Array.from({ length: 6 }, (_, i) => new Limiter(store, policies, { name: `shop ${i}` }));
  for (const each of limiters) for (let i = 0; i < 5; i++) await each.take("a");
  await recordHistory(store).flush();
  for (const each of limiters) {
    const { outcomes } = await readOutcomes(store, "Limiter", each.name, () => 0);
    expect(outcomes.map(({ outcome, past }) => [outcome, past.reduce((sum, { count }) => sum + count, 0)])).toEqual([
      ["allowed", 2],
      ["denied", 3],
    ]);
  }
});
