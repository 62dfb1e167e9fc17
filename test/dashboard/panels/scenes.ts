import {
  Breaker,
  Counters,
  DelayQueue,
  DrainService,
  FleetMetrics,
  Limiter,
  Lock,
  MultiSemaphore,
  ReadWriteLock,
  recordHistory,
  Semaphore,
  SeriesGroup,
  slidingWindow,
} from "../../../src/entries/index.ts";
import type { WatchedStore } from "../../../src/store/contract.ts";
import { TableSink } from "../../fuzz/table-sink.ts";
import { atEnd } from "../../harness/ends.ts";

/** Markup and controls that a page could take for its own. */
export const HOSTILE = '<img src=x onerror="window.attacked=1">\u202e\u0007 &amp;';

/** A structure with data, and what its panel must show. */
export interface PanelScene {
  readonly kind: string;
  /** Makes the structure, and resolves to the numbers that its own interface gives, as the page's facts name them. */
  readonly make: (store: WatchedStore, name: string) => Promise<() => Promise<Record<string, number | string>>>;
  /** Texts that foreign data brings to the panel. */
  readonly foreign: readonly string[];
}

/** Those of the counters below, by name. */
export const SINKS: Record<string, TableSink> = {};

export const SCENES: readonly PanelScene[] = [
  {
    kind: "Limiter",
    foreign: [HOSTILE.replace("\u0007", "")],
    async make(store, name) {
      const history = recordHistory(store);
      const policies = [
        slidingWindow({ name: "minute", limit: 3, span: "1m" }),
        slidingWindow({ name: "trial", limit: 1, span: "1h", shadow: true }),
      ];
      const limiter = new Limiter(store, policies, { name });
      const counts = { allowed: 0, denied: 0, shadow: 0 };
      for (const [id, calls] of [
        [HOSTILE.replace("\u0007", ""), 9],
        ["203.0.113.7", 5],
        ["quiet", 1],
      ] as const)
        for (let i = 0; i < calls; i++) {
          const decision = await limiter.take(id);
          counts[decision.allowed ? "allowed" : "denied"]++;
          if (decision.policies.some(({ allowed, shadow }) => shadow && !allowed)) counts.shadow++;
        }
      await history.close();
      return async () => counts;
    },
  },
  {
    kind: "DelayQueue",
    foreign: [HOSTILE],
    async make(store, name) {
      const history = recordHistory(store, { timings: false });
      const queue = new DelayQueue<unknown>(store, name, { shards: 2, attempts: 1 });
      await queue.add("delivered");
      const worker = queue.process(() => {});
      await new Promise((resolve) => worker.on("completed", resolve));
      await worker.close();
      await history.close();
      for (let i = 0; i < 5; i++) await queue.add({ to: HOSTILE, i }, { id: `dead ${i}` });
      for (const each of await queue.claim({ limit: 5 })) await queue.nack(each, { error: new Error(HOSTILE) });
      await queue.add("running");
      await queue.claim({ visibility: "1h" });
      await queue.add(HOSTILE, { id: HOSTILE.replace("\u0007", "") });
      await queue.add(new Uint8Array([0, 255, 16]), { delay: "1h" });
      return async () => {
        const { waiting, due, claimed, dead } = await queue.counts();
        return { due, waiting, claimed, dead };
      };
    },
  },
  {
    kind: "Breaker",
    foreign: [],
    async make(store, name) {
      const breaker = new Breaker(store, { name, span: "10s", failures: 3, failureRatio: 0.5, cooldown: "1h" });
      for (let i = 0; i < 4; i++) await breaker.run(async () => i);
      await breaker.flush();
      for (let i = 0; i < 3; i++) await breaker.run(() => Promise.reject(new Error("down"))).catch(() => {});
      await breaker.flush();
      return async () => {
        await breaker.flush();
        const { state, calls, failures } = breaker.stats();
        return { state, calls, failures };
      };
    },
  },
  {
    kind: "Lock",
    foreign: ["The hold with fence"],
    async make(store, name) {
      const lock = new Lock(store, name);
      await lock.tryLock({ lease: "10m" });
      const ended = new AbortController();
      atEnd(() => ended.abort());
      new Lock(store, name).tryLock({ wait: "10m", signal: ended.signal }).catch(() => {});
      return async () => {
        const { isHeld, waitingProcesses } = await lock.inspect();
        return { state: isHeld ? "held" : "free", waiting: waitingProcesses };
      };
    },
  },
  {
    kind: "ReadWriteLock",
    foreign: ["No writer holds it."],
    async make(store, name) {
      const lock = new ReadWriteLock(store, name);
      for (let i = 0; i < 3; i++) await lock.read.tryLock({ lease: "10m" });
      return async () => ({ state: "free", readers: 3, waiting: 0 });
    },
  },
  {
    kind: "Semaphore",
    foreign: ["The next end is first."],
    async make(store, name) {
      const semaphore = new Semaphore(store, name, { limit: 4 });
      for (let i = 0; i < 3; i++) await semaphore.tryAcquire({ lease: "10m" });
      return async () => ({ used: 3, free: 1 });
    },
  },
  {
    kind: "MultiSemaphore",
    foreign: ["The next end is first."],
    async make(store, name) {
      const semaphore = new MultiSemaphore(store, name, { limit: 8 });
      await semaphore.tryAcquire(5, { lease: "10m" });
      await semaphore.tryAcquire(3, { lease: "5m" });
      return async () => ({ used: 8, free: 0 });
    },
  },
  {
    kind: "FleetMetrics",
    foreign: [HOSTILE],
    async make(store, name) {
      const fleet = new FleetMetrics(store, name, { interval: "10m" });
      for (let i = 0; i < 9; i++) fleet.metric(HOSTILE).recordSuccess(10 + i);
      fleet.metric(HOSTILE).recordFailure();
      fleet.metric("other").addAllowed(5);
      fleet.metric("other").addDenied(2);
      await fleet.flush();
      return async () => {
        const views = [...(await fleet.readAll()).values()];
        const sum = (of: "allowed" | "denied" | "success" | "failure") =>
          views.reduce((all, each) => all + each[of](), 0);
        return { allowed: sum("allowed"), denied: sum("denied"), success: sum("success"), failure: sum("failure") };
      };
    },
  },
  {
    kind: "SeriesGroup",
    foreign: [HOSTILE, "(empty)"],
    async make(store, name) {
      const group = new SeriesGroup(store, name, { labels: ["route", "method"] });
      atEnd(() => group.close());
      for (let i = 0; i < 20; i++) await group.record(1.5 ** i, { route: i % 3 ? HOSTILE : "", method: `${i % 2}` });
      return async () => {
        const { count, mean, max, percentiles } = (await group.stats({ by: [] })).rows[0]!;
        return { count, mean, p50: percentiles[50], p90: percentiles[90], p99: percentiles[99], max };
      };
    },
  },
  {
    kind: "Counters",
    foreign: [],
    async make(store, name) {
      const counters = new Counters(store, name, { dimensions: ["page"], shards: 4 });
      atEnd(() => counters.close());
      const count = () => Promise.all(Array.from({ length: 40 }, (_, i) => counters.add({ page: `p${i}` }, i + 1)));
      const sink = new TableSink();
      SINKS[name] = sink;
      await count();
      await new DrainService({ counters, sink }).drainOnce();
      await count();
      return async () => {
        const sum = (rows: readonly { count: number }[]) => rows.reduce((all, { count }) => all + count, 0);
        const [waiting, total] = [await counters.read(), await counters.read({ table: sink })].map(sum);
        return { waiting: waiting!, total: total!, diverged: 0, lag: "" };
      };
    },
  },
];
