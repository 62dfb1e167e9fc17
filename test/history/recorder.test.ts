import { expect, test } from "vitest";
import {
  Breaker,
  DelayQueue,
  fixedWindow,
  type History,
  Limiter,
  memoryStore,
  OrielError,
  recordHistory,
  redisStore,
  Series,
  type Store,
  slidingWindow,
} from "../../src/entries/index.ts";
import { type CountedKind, deniedKey, openingsKey, timingSeries } from "../../src/operate/history/names.ts";
import { type PastCount, readOutcomes } from "../../src/operate/history/read-outcomes.ts";
import { denied } from "../../src/operate/history/steps/denied.ts";
import { lines } from "../../src/operate/history/steps/lines.ts";
import { readRegistry } from "../../src/store/registry/read-registry.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { uniformOf } from "../stats/random.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

async function opened(): Promise<Store> {
  const store = redisStore((await redis()).url, { deadline: "10s", onWarning: null });
  atEnd(() => store.close());
  return store;
}

function recorded(store: Store, options?: object): History {
  const history = recordHistory(store, options);
  atEnd(() => history.close());
  return history;
}

/** The sums of a limiter's history, by outcome and policy. */
async function sumsOf(store: Store, name: string, kind: CountedKind = "Limiter"): Promise<Record<string, number>> {
  const { outcomes } = await readOutcomes(store, kind, name, () => 0);
  const sumOf = (past: readonly PastCount[]) => past.reduce((sum, { count }) => sum + count, 0);
  return Object.fromEntries(outcomes.map(({ outcome, policy, past }) => [`${outcome} ${policy}`.trim(), sumOf(past)]));
}

const idsOf = (store: Store, limiter: string) =>
  store.run(denied, deniedKey(store, limiter), { added: new Map(), isWanted: true });

const POLICIES = [
  slidingWindow({ name: "minute", limit: 3, span: "1h" }),
  fixedWindow({ name: "day", limit: 5, span: "1d" }),
  slidingWindow({ name: "trial", limit: 1, span: "1h", shadow: true }),
];

test.each(["memory", "Redis"])("counts of several processes add up to their decisions: %s", async (where) => {
  const memory = memoryStore();
  const stores = where === "memory" ? [memory] : await Promise.all([opened(), opened(), opened()]);
  const random = uniformOf(where.length);
  const name = `api ${where}`;
  const truth: Record<string, number> = {};
  const ids = new Map<string, number>();
  const count = (key: string) => {
    truth[key] = (truth[key] ?? 0) + 1;
  };
  const processes = stores.map((store) => ({
    history: recorded(store),
    limiter: new Limiter(store, POLICIES, { name }),
  }));
  for (let i = 0; i < 300; i++) {
    const { history, limiter } = processes[Math.floor(random() * processes.length)]!;
    const id = `user ${Math.floor(random() ** 2 * 40)}`;
    const form = Math.floor(random() * 3);
    const decision =
      form === 0
        ? await limiter.take(id)
        : form === 1
          ? await limiter.acquire(id, { wait: 0 })
          : await Limiter.takeAll([{ limiter, id }], { tag: "t" });
    count(`${decision.allowed ? "allowed" : "denied"} ${decision.policy.replace(`${name}:`, "")}`);
    if (!decision.allowed) ids.set(id, (ids.get(id) ?? 0) + 1);
    for (const each of decision.policies)
      if (each.shadow && !each.allowed) count(`shadow ${each.name.replace(`${name}:`, "")}`);
    if (random() < 0.05) await history.flush();
  }
  await Promise.all(processes.map(({ history }) => history.close()));
  expect(Object.keys(truth).some((key) => key.startsWith("shadow"))).toBe(true);
  expect(await sumsOf(stores[0]!, name)).toEqual(truth);
  expect(new Map(await idsOf(stores[0]!, name))).toEqual(ids);
});

test("what was not sent because the store failed is sent with the next report, once", async () => {
  const real = memoryStore();
  let isDown = false;
  const store: Store = {
    ...real,
    run: (operation, key, input, options) =>
      isDown
        ? Promise.reject(new OrielError("UNAVAILABLE", "down", { transient: true, applied: "no" }))
        : real.run(operation, key, input, options),
  };
  const history = recorded(store);
  const limiter = new Limiter(store, [POLICIES[0]!], { name: "api", onStoreError: "allow" });
  for (let i = 0; i < 4; i++) await limiter.take("a");
  isDown = true;
  await limiter.take("a");
  await history.flush();
  isDown = false;
  await limiter.take("a");
  await history.flush();
  await history.flush();
  expect(await sumsOf(real, "api")).toEqual({ "allowed minute": 4, "denied minute": 2 });
});

test("a closed history counts no more, and a new one can be opened", async () => {
  const store = memoryStore();
  const limiter = new Limiter(store, [POLICIES[0]!], { name: "api" });
  const history = recorded(store);
  expect(recordHistory(store)).toBe(history);
  await limiter.take("a");
  await history.close();
  await limiter.take("a");
  await history.flush();
  expect(await sumsOf(store, "api")).toEqual({ "allowed minute": 1 });
  const next = recorded(store);
  expect(next).not.toBe(history);
  await limiter.take("a");
  await next.close();
  expect(await sumsOf(store, "api")).toEqual({ "allowed minute": 2 });
});

test("each opening of a circuit is listed once with its cause, however many processes see it", async () => {
  const stores = await Promise.all([opened(), opened()]);
  const histories = stores.map((store) => recorded(store));
  const options = { name: "pay", failures: 3, span: "1m", cooldown: 40, flush: 1, probes: 1 } as const;
  const [one, other] = stores.map((store) => new Breaker(store, options)) as [Breaker, Breaker];
  const fail = () => one.run(() => Promise.reject(new Error("no"))).catch(() => {});
  for (let i = 0; i < 3; i++) await fail();
  await until("it is open", async () => {
    await Promise.all([one.flush(), other.flush()]);
    return one.stats().state === "open" && other.stats().state === "open";
  });
  await until("a probe fails", async () => {
    let hasRun = false;
    await one
      .run(() => {
        hasRun = true;
        return Promise.reject(new Error("no"));
      })
      .catch(() => {});
    return hasRun;
  });
  await one.flush();
  await one.close();
  await other.flush();
  await one.open();
  await other.flush();
  const read = async () => {
    const { list } = await stores[0]!.run(lines, openingsKey(stores[0]!, "pay"), { line: "", isWanted: true });
    return list
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line.slice(line.indexOf(" ") + 1)));
  };
  await until("three openings are listed", async () => {
    await Promise.all(histories.map((history) => history.flush()));
    return (await read()).length >= 3;
  });
  const openings = await read();
  expect(openings.map(({ cause }: { cause: string }) => cause).sort()).toEqual(["calls", "order", "probe"]);
  expect(openings.find(({ cause }: { cause: string }) => cause === "calls")).toMatchObject({
    calls: 3,
    failures: 3,
    slow: 0,
  });
  for (const { atMs } of openings) expect(Math.abs(atMs - Date.now())).toBeLessThan(60_000);
});

test("the timings of a queue equal the events of its workers", async () => {
  const store = await opened();
  recorded(store);
  const queue = new DelayQueue<number>(store, "mail", { shards: 2 });
  const events = { lateness: [] as number[], wait: [] as number[], run: [] as number[] };
  const worker = queue.process(async () => {}, { concurrency: 3 });
  atEnd(() => worker.close());
  worker.on("claimed", ({ lateMs }) => void events.lateness.push(lateMs));
  worker.on("started", ({ waitMs }) => void events.wait.push(waitMs));
  worker.on("completed", ({ durationMs }) => void events.run.push(durationMs));
  for (let i = 0; i < 40; i++) await queue.add(i, { delay: i % 3 });
  await until("all are done", () => events.run.length === 40);
  for (const timing of ["lateness", "wait", "run"] as const) {
    const series = new Series(store, timingSeries("mail", timing), { retention: "1h" });
    await until(`${timing} is stored`, async () => (await series.stats()).count === 40);
    const values = [...(await series.values())].sort((a, b) => a - b);
    expect(values).toEqual([...new Float32Array(events[timing])].sort((a, b) => a - b));
    await series.close();
  }
  expect(Math.min(...events.wait)).toBeGreaterThanOrEqual(0);
});

test("above 100 names, and with timings: false, nothing is recorded, and calls are answered", async () => {
  const store = memoryStore();
  const history = recorded(store, { timings: false });
  const limiters = Array.from({ length: 101 }, (_, i) => new Limiter(store, [POLICIES[0]!], { name: `${i}` }));
  for (const each of limiters) expect((await each.take("a")).allowed).toBe(true);
  await history.flush();
  expect([await sumsOf(store, "99"), await sumsOf(store, "100")]).toEqual([{ "allowed minute": 1 }, {}]);
});

test("limiters of one name whose policies have other names have 64 counts", async () => {
  const store = memoryStore();
  const history = recorded(store);
  for (let i = 0; i < 70; i++) {
    const limiter = new Limiter(store, [fixedWindow({ name: `id-${i}`, limit: 1, span: "1h" })], { name: "many" });
    expect((await limiter.take("a")).allowed).toBe(true);
  }
  await history.flush();
  expect(Object.keys(await sumsOf(store, "many"))).toHaveLength(64);
});

test("the deliveries of a queue are counted by what became of them", async () => {
  const store = memoryStore();
  const history = recorded(store, { timings: false });
  const queue = new DelayQueue<number>(store, "mail", { shards: 1, attempts: 2, backoff: 0 });
  let ended = 0;
  const worker = queue.process(async ({ payload }) => {
    if (payload === 0) throw new Error("no");
  });
  atEnd(() => worker.close());
  worker.on("completed", () => void ended++);
  worker.on("dead", () => void ended++);
  for (let i = 0; i < 6; i++) await queue.add(i);
  await until("all have ended", () => ended === 6);
  await history.flush();
  expect(await sumsOf(store, "mail", "DelayQueue")).toEqual({ completed: 5, failed: 2, dead: 1 });
});

test("the series of a history do not enter the registry", async () => {
  let aheadMs = 0;
  const store = redisStore((await redis()).url, {
    ...{ onWarning: null, prefix: "quiet:", monotonic: () => performance.now() + aheadMs },
  });
  atEnd(() => store.close());
  const history = recorded(store);
  const limiter = new Limiter(store, POLICIES, { name: "listed" });
  await limiter.take("a");
  await history.flush();
  aheadMs += 6000;
  await until("it is announced", async () => {
    await limiter.take("a");
    const { structures } = await readRegistry(store);
    expect(structures.filter(({ name }) => name.startsWith("history"))).toEqual([]);
    return structures.some(({ name }) => name === "listed");
  });
});

test.each([
  [{ timings: true }, "timings"],
  [{ timings: "1s" }, "timings"],
  [{ interval: "10s" }, "option"],
])("%o is refused with one clear error", (options, argument) => {
  expect(() => recordHistory(memoryStore(), options as object)).toThrow(
    expect.objectContaining({ code: "ARGUMENT", message: expect.stringContaining(`recordHistory: ${argument}`) }),
  );
});
