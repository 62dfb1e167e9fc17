import { Redis } from "ioredis";
import {
  Breaker,
  Counters,
  DelayQueue,
  DrainService,
  FleetMetrics,
  httpStore,
  Limiter,
  LocalSeries,
  Lock,
  LockedWindow,
  localDecisions,
  MultiSemaphore,
  memoryStore,
  ReadWriteLock,
  redisStore,
  Semaphore,
  Series,
  SeriesGroup,
  ShardedSeries,
  ShardedSeriesGroup,
  slidingWindow,
} from "../../src/entries/index.ts";
import { QuorumLock, QuorumSemaphore } from "../../src/entries/structures/semaphore.ts";

export interface Structure {
  /** Options that are dimensions, null where one is left out. The suites expect the same with every value. */
  modes: Record<string, readonly unknown[]>;
  /** Every other option, and why it is no dimension: its suites set it in every row, or it does not concern a store. */
  elsewhere: Record<string, string>;
  hasKernel?: true;
  /** The options of these modes, where a mode is not the option's value itself: modes are JSON. */
  optionsOf?(modes: Record<string, unknown>): Record<string, unknown>;
  /** Creates one with these options. It refuses unknown ones, and its error names the known ones. */
  make(options: object): unknown;
}

const store = memoryStore();
/** They never connect. */
const clients = [0, 1, 2].map(() => new Redis({ lazyConnect: true }));
const BOUND = "a bound of this process's memory; no step sees it";
const ALL_ROWS = "set by tests that run in every row";
const CLIENTS = "over clients instead of a store; semaphore/faults.slow.test.ts renews over real servers";
const LOCAL = "acts in this process only";

const structuresOf = <Name extends string>(known: Record<Name, Structure>) => known;

const OF_GROUP = {
  labels: ALL_ROWS,
  maxGroups: ALL_ROWS,
  retention: ALL_ROWS,
  clock: ALL_ROWS,
  nan: ALL_ROWS,
  resolution: "rounds before any step: groups/options.test.ts",
  maxPendingBytes: BOUND,
  maxResidentBytes: BOUND,
  entropy: "for tests that repeat themselves",
};

export const structures = structuresOf({
  series: {
    modes: {
      values: ["float32", "float64"],
      onStoreError: ["throw", "local"],
      replicas: [0, 1],
    },
    elsewhere: {
      retention: ALL_ROWS,
      clock: `${ALL_ROWS}: series/contract/suite-clock.ts`,
      nan: `${ALL_ROWS}: series/contract/suite-policies.ts`,
      resolution: `${ALL_ROWS}: series/contract/suite-sealed.ts`,
      maxPendingBytes: BOUND,
      maxResidentBytes: BOUND,
      entropy: "for tests that repeat themselves",
    },
    hasKernel: true,
    make: (options) => new Series(store, "s", options),
  },
  shardedSeries: {
    modes: { values: ["float32", "float64"], onStoreError: ["throw", "local"], replicas: [0, 1] },
    elsewhere: {
      shards: ALL_ROWS,
      retention: ALL_ROWS,
      clock: ALL_ROWS,
      nan: "of each shard, whose suite runs in every row",
      resolution: "of each shard, whose suite runs in every row",
      maxPendingBytes: BOUND,
      maxResidentBytes: BOUND,
      entropy: "for tests that repeat themselves",
    },
    hasKernel: true,
    make: (options) => new ShardedSeries(store, "s", { shards: 2, ...options }),
  },
  seriesGroup: {
    modes: { replicas: [0, 1] },
    elsewhere: OF_GROUP,
    hasKernel: true,
    make: (options) => new SeriesGroup(store, "g", { labels: ["l"], ...options }),
  },
  shardedSeriesGroup: {
    modes: { replicas: [0, 1] },
    elsewhere: { ...OF_GROUP, shards: ALL_ROWS },
    hasKernel: true,
    make: (options) => new ShardedSeriesGroup(store, "g", { labels: ["l"], shards: 2, ...options }),
  },
  lockedWindow: {
    modes: { closed: ["both", "right"] },
    elsewhere: {
      span: ALL_ROWS,
      lock: "semaphore/any-lock.test.ts: every kind of lock; twins.test.ts: marks with and without fences",
      wait: "of the lock, whose suite runs in every row",
      lease: "of the lock, whose suite runs in every row",
      maxBytes: ALL_ROWS,
      statistics: ALL_ROWS,
    },
    hasKernel: true,
    make: (options) => new LockedWindow(store, "w", { span: 1000, ...options }),
  },
  localSeries: {
    modes: {},
    elsewhere: Object.fromEntries(
      ["retention", "values", "nan", "maxBytes", "compact", "clock"].map((option) => [
        option,
        "a LocalSeries has no store",
      ]),
    ),
    make: (options) => new LocalSeries(options),
  },
  limiter: {
    // "allow" and "deny" differ from `localDecisions()` only while a store is out of reach: limiter/away.slow.test.ts.
    modes: { onStoreError: ["throw", "local"] },
    optionsOf: (modes) => (modes.onStoreError === "local" ? { ...modes, onStoreError: localDecisions() } : modes),
    elsewhere: {
      name: ALL_ROWS,
      denyCache: `${ALL_ROWS}: limiter/suite.ts`,
      lease: `${ALL_ROWS}: limiter/suite-ahead.ts`,
      cacheFor: "chooses before any step: limiter/policies-by-id.own.test.ts",
    },
    make: (options) => new Limiter(store, [slidingWindow({ limit: 1, span: 1000 })], { name: "l", ...options }),
  },
  lock: {
    modes: { replicas: [0, 1] },
    elsewhere: { watchdogLease: ALL_ROWS },
    make: (options) => new Lock(store, "l", options),
  },
  readWriteLock: {
    modes: { replicas: [0, 1] },
    elsewhere: { watchdogLease: ALL_ROWS },
    make: (options) => new ReadWriteLock(store, "l", options),
  },
  semaphore: {
    modes: { replicas: [0, 1] },
    elsewhere: { limit: ALL_ROWS, watchdogLease: ALL_ROWS },
    make: (options) => new Semaphore(store, "s", { limit: 1, ...options }),
  },
  multiSemaphore: {
    modes: { replicas: [0, 1] },
    elsewhere: { limit: ALL_ROWS, watchdogLease: ALL_ROWS },
    make: (options) => new MultiSemaphore(store, "s", { limit: 1, ...options }),
  },
  quorumLock: {
    modes: {},
    elsewhere: { watchdogLease: CLIENTS },
    make: (options) => new QuorumLock(clients, "l", options),
  },
  quorumSemaphore: {
    modes: {},
    elsewhere: { limit: CLIENTS, watchdogLease: CLIENTS },
    make: (options) => new QuorumSemaphore(clients, "s", { limit: 1, ...options }),
  },
  breaker: {
    modes: { quorum: [null, 0.5] },
    elsewhere: {
      ...Object.fromEntries(
        [
          ...["name", "span", "failureRatio", "slowRatio", "slowCall", "minimumCalls", "failures"],
          ...["cooldown", "probes", "lease", "flush", "timeout"],
        ].map((option) => [option, ALL_ROWS]),
      ),
      isFailure: LOCAL,
      isIgnored: LOCAL,
      monotonic: "the tests' clock",
    },
    make: (options) => new Breaker(store, { name: "b", span: 1000, failures: 1, ...options } as never),
  },
  counters: {
    modes: { shards: [1, 8], replicas: [0, 1], mirror: [null, { prefix: "m:" }] },
    elsewhere: {
      dimensions: ALL_ROWS,
      addedDimensions: "counter/added-dimension.test.ts, over all modes",
      buckets: ALL_ROWS,
      timeZone: "buckets are cut in the process, before any step: counter/calendar.test.ts",
      onLost: "called after a failover: counter/failover.test.ts",
    },
    make: (options) => new Counters(store, "c", { dimensions: ["d"], ...options } as never),
  },
  drain: {
    // Sinks by their names in drain/stages.ts.
    modes: { sink: ["SQLite", "PostgreSQL", "MariaDB", "recorded Oracle"], concurrency: [1, 4], replicas: [0, 1] },
    elsewhere: {
      counters: ALL_ROWS,
      lock: ALL_ROWS,
      every: LOCAL,
      cycleTimeout: `${LOCAL}: drain/states.sql.test.ts`,
      sqlTimeout: "of the database: drain/outages.sql.test.ts",
    },
    make: (options) => new DrainService({ counters: undefined, sink: undefined, ...options } as never),
  },
  queue: {
    modes: { replicas: [0, 1] },
    elsewhere: {
      shards: `${ALL_ROWS}: one shard has an order, several have one each`,
      dedupeFor: ALL_ROWS,
      attempts: ALL_ROWS,
      backoff: ALL_ROWS,
    },
    make: (options) => new DelayQueue(store, "q", options),
  },
  fleet: {
    modes: { percentiles: [false, true], mode: ["exact", "sentinel"] },
    elsewhere: { sampleCount: ALL_ROWS, interval: ALL_ROWS, maxNames: ALL_ROWS, flush: ALL_ROWS },
    make: (options) => new FleetMetrics(store, "f", options),
  },
  redisStore: {
    modes: {},
    elsewhere: {
      ...Object.fromEntries(["scriptOf", "monotonic", "deadline"].map((option) => [option, ALL_ROWS])),
      scripting: "a dimension of every structure: matrix/table.ts",
      prefix: "part of every key, whatever it is: store/keys.test.ts",
      maxPendingBytes: BOUND,
      onWarning: "reads only: store/warnings.test.ts",
      tls: "of the connection: managed/tls.slow.test.ts",
      history: "on and off: history/by-itself.test.ts",
      registry: "on in every row; off, it adds no call: registry/announcements.test.ts",
    },
    make: (options) => redisStore("redis://127.0.0.1", options),
  },
  memoryStore: {
    modes: {},
    elsewhere: {
      clock: ALL_ROWS,
      monotonic: ALL_ROWS,
      maxBytes: BOUND,
      prefix: "part of every key, whatever it is: store/keys.test.ts",
      registry: "on in every row; off, it adds no call: registry/announcements.test.ts",
    },
    make: (options) => memoryStore(options),
  },
  httpStore: {
    modes: {},
    elsewhere: {
      ...Object.fromEntries(["url", "token", "scriptOf", "monotonic", "deadline"].map((option) => [option, ALL_ROWS])),
      fetch: "the runtime's: runtimes/http-suite.ts",
      prefix: "part of every key, whatever it is: store/keys.test.ts",
      maxPendingBytes: BOUND,
      onWarning: "reads only: store/warnings.test.ts",
      registry: "on in every row; off, it adds no call: registry/announcements.test.ts",
    },
    make: (options) => httpStore({ url: "http://127.0.0.1", token: "t", ...options }),
  },
});

export type StructureName = keyof typeof structures;

/** The options that a structure knows, read from its refusal of an unknown one. */
export function knownOptionsOf({ make }: Structure): string[] {
  const unknown = "~matrix~";
  try {
    make({ [unknown]: 1 });
  } catch (error) {
    const known = /it must be one of (.*?)(;|$)/.exec((error as Error).message)?.[1];
    if (known && (error as Error).message.includes(unknown)) return known.split(", ");
    throw error;
  }
  throw new Error("it takes an option that it cannot know");
}

/** The options of a structure in these modes. */
export function optionsOf(name: StructureName, modes: Record<string, unknown>): Record<string, unknown> {
  const { optionsOf } = structures[name] as Structure;
  return optionsOf?.(modes) ?? modes;
}
