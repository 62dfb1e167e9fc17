import { Redis } from "ioredis";
import * as oriel from "../../../src/entries/index.ts";
import type { MemoryStore } from "../../../src/store/memory/memory.ts";
import { LOCKS } from "./locks.ts";
import type { Right, Subject } from "./walk.ts";

const nothing: Right = () => [];
const signal = () => new AbortController().signal;
const policy = () => oriel.slidingWindow({ limit: 10, span: 1000, name: "p" });
const limiter = (store: MemoryStore) => new oriel.Limiter(store, [policy()], { name: "a" });
const lender = (store: MemoryStore) =>
  new oriel.Limiter(store, [oriel.concurrency({ limit: 5, lease: 1000 })], { name: "l" });
const series = (store: MemoryStore) => {
  store.on("error", () => {}); // receives the failures of `observe`
  return new oriel.Series(store, "a", { retention: "1h" });
};
const counters = (store: MemoryStore) => new oriel.Counters(store, "a", { dimensions: ["a"], shards: 1 });
const queue = (store: MemoryStore) => new oriel.DelayQueue(store, "a");
const window = () => ({ span: 1000, at: Date.now(), closed: "right", signal: signal(), maxAge: "1s" });
const asked = () => ({ ...window(), percentiles: [50], method: "linear", ddof: 0 });
const lined = () => {
  const { ddof: _, ...its } = asked();
  return { ...its, every: 100, window: 200, align: "every" };
};
const tag = () => ({ tag: "t", policies: [policy()] });
const taking = () => ({ cost: 1, ...tag(), key: "k", request: {}, signal: signal() });
const window10 = (more: object) => [{ limit: 10, span: 1000, name: "p", shadow: false, ...more }];
const backoff = () => ({ first: 10, factor: 2, longest: 1000 });
const table = { read: async () => ({ rows: [], ledger: [] }) };
const CERTIFICATE = "-----BEGIN CERTIFICATE-----";
const KEY = "-----BEGIN PRIVATE KEY-----";
async function claimed(store: MemoryStore) {
  const it = queue(store);
  await it.add("x");
  return it;
}
/** A worker that has found no message and waits. */
async function worker(store: MemoryStore) {
  const it = queue(store).process(() => 1);
  await new Promise((resolve) => setTimeout(resolve, 0));
  return it;
}
class Connection {
  query = async () => ({ rowCount: 1 });
}
/** A job whose handler has not ended. */
async function job(store: MemoryStore) {
  const it = await claimed(store);
  return new Promise((resolve) => {
    const worker = it.process((each) => {
      resolve(each);
      return new Promise(() => {});
    });
    const close = store.close.bind(store);
    store.close = () => worker.close({ within: 0 }).then(close);
  });
}
const given = await claimed(oriel.memoryStore()).then((it) => it.claim());
const message = () => structuredClone(given[0]);
const permit = "0123456789abcdef".repeat(2);

/** The options and calls that a series with shards has too. */
const SERIES_OPTIONS = {
  ...{ retention: "1h", values: "float32", nan: "reject", clock: "server", resolution: "1us", replicas: 0 },
  ...{ maxResidentBytes: 1e8, maxPendingBytes: 1e6, onStoreError: "throw", entropy: () => 1 },
};
const GROUP_OPTIONS = {
  ...{ labels: ["route", "method"], maxGroups: 5, retention: "1h", nan: "reject", clock: "server", resolution: "1us" },
  ...{ maxResidentBytes: 1e8, maxPendingBytes: 1e6, replicas: 0, entropy: () => 1 },
} as const;
const GROUP_CALLS = {
  record: () => [1, { route: "/a", method: "GET" }, { at: Date.now(), signal: signal() }],
  observe: () => [1, { route: "/a", method: "GET" }, { at: Date.now(), signal: signal() }],
  stats: () => [{ ...asked(), by: ["route"], match: { route: "/a", method: ["GET"] } }],
  top: () => [3, { ...asked(), by: "p50", labels: ["route"], match: { route: ["/a"], method: "GET" } }],
  delete: nothing,
  close: nothing,
};

const SERIES_CALLS = {
  record: () => [1, { at: Date.now(), signal: signal() }],
  observe: () => [1, { at: Date.now(), signal: signal() }],
  recordMany: () => [[1, 2], { at: Date.now(), signal: signal() }],
  stats: () => [asked()],
  recordAndGet: () => [1, { span: 1000, percentiles: [50], method: "linear", signal: signal() }],
  values: () => [window()],
  fractionBelow: () => [5, window()],
  ranks: () => [[5], window()],
  histogram: () => [{ bounds: [1, 2], ...window() }],
  compare: () => [{ ...asked(), before: 1000 }],
  timeline: () => [lined()],
} satisfies Subject["methods"];

/** Structures over a store, except those with their own file. */
export const STRUCTURES: Record<string, Subject> = {
  memoryStore: {
    called: oriel.memoryStore,
    right: () => [
      { clock: Date.now, monotonic: () => performance.now(), maxBytes: 1e6, prefix: "a:", registry: false },
    ],
  },
  redisStore: {
    called: oriel.redisStore,
    right: () => [
      new Redis({ lazyConnect: true }),
      {
        ...{ prefix: "a:", deadline: 50, maxPendingBytes: 1e6, onWarning: null, scripting: "eval", history: false },
        ...{ scriptOf: () => ({ text: "" }), monotonic: () => 0, registry: false },
      },
    ],
  },
  "redisStore of a URL": {
    called: oriel.redisStore,
    right: () => [
      "rediss://127.0.0.1:1",
      { tls: { ca: [CERTIFICATE], cert: CERTIFICATE, key: KEY, passphrase: "p", servername: "s" } },
    ],
  },
  OrielError: {
    called: oriel.OrielError,
    data: ["new"],
    right: () => ["CORRUPT", "x", { cause: 1, transient: true, applied: "no", retryAfterMs: 5 }],
    methods: { "static detailOf": () => [new oriel.OrielError("CORRUPT", "x")] },
  },
  Series: {
    called: oriel.Series,
    right: (store) => [store, "a", SERIES_OPTIONS],
    object: series,
    data: ["observe"],
    methods: {
      ...SERIES_CALLS,
      explain: () => [asked()],
      delete: nothing,
      close: nothing,
      "static stats": (store) => [[series(store)], asked()],
      "static timeline": (store) => [
        [new oriel.Series(store, "a", { retention: "7d" })],
        { every: "1d", span: "2d", timeZone: "Europe/Berlin" },
      ],
    },
  },
  SeriesGroup: {
    called: oriel.SeriesGroup,
    right: (store) => [store, "a", GROUP_OPTIONS],
    object: (store) => new oriel.SeriesGroup(store, "a", { labels: ["route", "method"], retention: "1h" }),
    data: ["observe"],
    methods: GROUP_CALLS,
  },
  ShardedSeriesGroup: {
    called: oriel.ShardedSeriesGroup,
    right: (store) => [store, "a", { ...GROUP_OPTIONS, shards: 2 }],
    object: (store) => new oriel.ShardedSeriesGroup(store, "a", { labels: ["route", "method"], shards: 2 }),
    data: ["observe"],
    methods: GROUP_CALLS,
  },
  ShardedSeries: {
    called: oriel.ShardedSeries,
    right: (store) => [store, "a", { ...SERIES_OPTIONS, shards: 2 }],
    object: (store) => new oriel.ShardedSeries(store, "a", { retention: "1h", shards: 2 }),
    data: ["observe"],
    methods: {
      ...SERIES_CALLS,
      delete: nothing,
      close: nothing,
    },
  },
  LocalSeries: {
    called: oriel.LocalSeries,
    right: () => [{ retention: "1h", values: "float32", nan: "reject", maxBytes: 1e6, compact: true, clock: Date.now }],
    methods: {
      record: () => [1, { at: Date.now() }],
      recordMany: () => [[1, 2], { at: Date.now() }],
      stats: () => [asked()],
      percentile: () => [50, { span: 1000, method: "linear", closed: "right" }],
      values: () => [window()],
      fractionBelow: () => [5, window()],
      ranks: () => [[5], window()],
      histogram: () => [{ bounds: [1, 2], ...window() }],
      compare: () => [{ ...asked(), before: 1000 }],
      timeline: () => [lined()],
    },
  },
  LockedWindow: {
    called: oriel.LockedWindow,
    right: (store) => [
      store,
      "a",
      {
        ...{ span: 1000, wait: 100, lease: 1000, closed: "right", maxBytes: 1e6 },
        ...{ lock: new oriel.Lock(store, "w"), statistics: { first: () => 1 } },
      },
    ],
    methods: { addAndGetStats: () => [1], stats: nothing },
  },
  Limiter: {
    called: oriel.Limiter,
    right: (store) => [
      store,
      [policy()],
      { name: "a", onStoreError: "throw", denyCache: 0, lease: { permits: 2, for: 10 }, cacheFor: "1m" },
    ],
    object: limiter,
    methods: {
      take: () => ["x", { ...taking(), atLeast: 1, requestId: "r" }],
      peek: () => ["x", taking()],
      acquire: () => ["x", { ...taking(), wait: 0 }],
      penalty: () => ["x", 1, tag()],
      reward: () => ["x", 1, tag()],
      block: () => ["x", 100, tag()],
      reset: () => ["x", { tag: "t" }],
      release: () => ["x", permit, { tag: "t" }],
      reserve: () => ["x", { ...taking(), lease: 1000, ends: "free" }],
      "static reserveAll": (store) => [
        [{ limiter: limiter(store), id: "x", cost: 1 }],
        { tag: "t", lease: 1000, ends: "charged", signal: signal() },
      ],
      "static takeAll": (store) => [[{ limiter: limiter(store), id: "x", cost: 1 }], { tag: "t" }],
    },
  },
  localDecisions: { called: oriel.localDecisions, right: () => [{ share: 0.5 }] },
  "Limiter of permits": { object: lender, methods: { release: () => ["x", permit, { tag: "t" }] } },
  Reservation: {
    object: (store) => limiter(store).reserve("x", { cost: 1, lease: 1000 }),
    methods: { charge: () => [1], settle: () => [1], cancel: nothing },
  },
  fixedWindow: { called: oriel.fixedWindow, right: () => window10({ aligned: true }) },
  calendarWindow: {
    called: oriel.calendarWindow,
    right: () => [{ limit: 10, every: "month", timeZone: "Europe/Berlin", startsAt: 15, name: "p", shadow: false }],
  },
  slidingWindow: { called: oriel.slidingWindow, right: () => window10({}) },
  gcra: { called: oriel.gcra, right: () => window10({ burst: 1 }) },
  leakyBucket: { called: oriel.leakyBucket, right: () => [{ capacity: 10, span: 1000, name: "p", shadow: false }] },
  concurrency: { called: oriel.concurrency, right: () => [{ limit: 10, lease: 1000, name: "p", shadow: false }] },
  ...LOCKS,
  Breaker: {
    called: oriel.Breaker,
    right: (store) => [
      store,
      {
        ...{ name: "a", span: 1000, failureRatio: 0.5, slowRatio: 0.5, slowCall: 100, minimumCalls: 5, failures: 3 },
        ...{ probes: 1, lease: 1000, flush: 100, timeout: 1000, quorum: 0.5 },
        cooldown: { first: 1000, factor: 2, longest: 2000, jitter: 0.1 },
        ...{ isFailure: () => true, isIgnored: () => false, monotonic: () => 0 },
      },
    ],
    methods: {
      run: () => [() => 1, { signal: signal(), fallback: () => 2 }],
      stats: nothing,
      flush: nothing,
      ready: nothing,
      open: () => [{ for: 1000 }],
      close: () => [{ for: 1000 }],
      reset: nothing,
      disable: nothing,
      enable: nothing,
      on: () => ["open", () => {}],
    },
  },
  DelayQueue: {
    called: oriel.DelayQueue,
    right: (store) => [store, "a", { shards: 1, replicas: 0, dedupeFor: "1h", attempts: 3, backoff: backoff() }],
    object: claimed,
    data: ["ack", "nack", "extend"],
    methods: {
      add: () => ["x", { delay: 0, id: "i", attempts: 2, backoff: backoff(), priority: 0 }],
      addBulk: () => [[{ payload: 1, delay: 5, id: "i", attempts: 2, backoff: backoff(), priority: 0 }]],
      cancel: () => ["i"],
      reschedule: () => ["i", { delay: 5 }],
      get: () => ["i"],
      counts: nothing,
      lag: nothing,
      peek: () => [{ limit: 5 }],
      pause: nothing,
      resume: nothing,
      process: () => [
        () => 1,
        { concurrency: 1, prefetch: 1, visibility: 1000, attempts: 3, signal: signal(), lagAfter: 10 },
      ],
      claim: () => [{ limit: 1, visibility: 1000 }],
      ack: () => [message()],
      nack: () => [message(), { delay: 5, error: "x" }],
      extend: () => [message(), 1000],
    },
    also: {
      add: () => ["x", { at: Date.now() }],
      addBulk: () => [[{ payload: 1, at: Date.now() }]],
      reschedule: () => ["i", { at: Date.now() }],
    },
  },
  DoNotRetryError: {
    called: oriel.DoNotRetryError,
    data: ["new"],
    right: () => ["x", { cause: 1 }],
  },
  Job: {
    object: job,
    methods: { again: () => [{ delay: 5 }], once: () => [new Connection(), { table: "t" }] },
  },
  DeadLetters: {
    object: (store) => queue(store).dead,
    methods: { list: () => [{ offset: 0, limit: 5 }], redrive: () => [{ ids: ["x"] }] },
  },
  QueueWorker: {
    object: worker,
    methods: { on: () => ["completed", () => {}], close: () => [{ within: 5 }] },
  },
  Counters: {
    called: oriel.Counters,
    right: (store) => [
      store,
      "a",
      {
        ...{ dimensions: ["a"], buckets: ["minute"], timeZone: "UTC", shards: 1, replicas: 0, onLost: () => {} },
        mirror: { prefix: "m", keep: "2d" },
        addedDimensions: ["b"],
      },
    ],
    object: counters,
    methods: {
      add: () => [{ a: "1" }, { count: 1, at: Date.now() }],
      check: () => [{ values: { a: "1" }, count: 1, at: Date.now() }],
      addBatch: () => ["s", 0, [{ values: { a: "1" }, count: 1, at: Date.now() }]],
      read: () => [{ bucket: "minute", from: 0, to: Date.now(), values: { a: "1" }, table, bigint: true }],
      close: nothing,
    },
  },
  FleetMetrics: {
    called: oriel.FleetMetrics,
    right: (store) => [
      store,
      "a",
      { interval: "1m", sampleCount: 60, maxNames: 10, flush: "1s", mode: "exact", percentiles: true },
    ],
    methods: {
      on: () => ["error", () => {}],
      metric: () => ["m"],
      flush: nothing,
      read: () => ["m"],
      readAll: nothing,
      latencyPercentilesMs: () => ["m", [99]],
      totals: nothing,
      close: nothing,
    },
  },
  FleetMetric: {
    object: (store) => new oriel.FleetMetrics(store, "a").metric("m"),
    methods: {
      ...Object.fromEntries(["addSuccess", "addFailure", "addAllowed", "addDenied"].map((name) => [name, () => [1]])),
      addLatency: () => [2.5],
      recordSuccess: () => [2.5],
      recordFailure: nothing,
    },
  },
  parseDuration: { called: oriel.parseDuration, right: () => ["10s"] },
  inboxTable: { called: oriel.inboxTable, right: () => ["postgres", { table: "t" }] },
};
