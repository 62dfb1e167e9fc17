import type { Row } from "../runner/report.ts";
import type { Curve } from "./curves.ts";

/** A table of docs/understand/benchmarks.md and its plot. */
export interface View {
  readonly bench: string;
  readonly title: string;
  /** The columns that name a row, with their headings. */
  readonly rows: Readonly<Record<string, string>>;
  /** The column whose values become the headings of columns of numbers. */
  readonly across?: string;
  /** The columns of numbers with their headings. With `across` there is one. */
  readonly values: Readonly<Record<string, string>>;
  readonly kept?: (row: Row) => boolean;
  /** The rows whose first number is plotted: by default all of them. */
  readonly plotted?: (row: Row) => boolean;
  /** Instead of bars: lines over a column, through all rows that have it. */
  readonly curves?: { readonly along: string; readonly all: readonly Curve[] };
}

const latencies = { events: "events in the window", callers: "callers" };
const durable = { database: "database", durability: "durability", connections: "connections" };
const isLarge = ({ events }: Row) => events === 1_000_000;

/** By the names of the page's blocks. */
export const VIEWS: Readonly<Record<string, View>> = {
  windows: {
    ...{ bench: "windows", title: "Record an event and get the answer: operations per second", rows: latencies },
    ...{ across: "rival", values: { opsPerSecond: "operations per second" } },
    plotted: (row) => isLarge(row) && row.callers === 1000,
  },
  processes: {
    ...{ bench: "processes", title: "The same by several processes: operations per second" },
    ...{ rows: { ...latencies, processes: "processes" }, across: "rival" },
    values: { opsPerSecond: "operations per second" },
  },
  fleet: {
    ...{ bench: "fleet", title: "Processes that record and ask once a second: bytes that Redis sends for each event" },
    ...{ rows: { processes: "processes" }, across: "asked", values: { bytesPerEvent: "bytes for each event" } },
  },
  keys: {
    ...{ bench: "keys", title: "Record on many keys: operations per second" },
    ...{ rows: { what: "call", keys: "keys" }, values: { opsPerSecond: "a second", timesFaster: "times `APPEND`" } },
  },
  cold: {
    ...{
      bench: "cold",
      title: "A reader with no cached copy: ms",
      rows: { batch: "batch" },
    },
    values: { ms: "ms", kernelMs: "of these the kernel, ms", trips: "round trips", bytes: "bytes" },
  },
  timeline: {
    ...{ bench: "timeline", title: "Each minute of an hour: ms", rows: { events: "events", by: "by" } },
    values: { ms: "ms", times: "times a cold read of one window" },
    plotted: isLarge,
  },
  groups: {
    ...{ bench: "groups", title: "The p99 of each group: ms", rows: { rows: "p99 of each of", by: "by" } },
    ...{ across: "events", values: { ms: "ms" } },
    kept: ({ ms }) => typeof ms === "number",
    plotted: isLarge,
  },
  "groups-kept": {
    ...{ bench: "groups", title: "Record 1 M events with labels: a second", rows: { by: "method" } },
    values: {
      ...{ eventsPerSecond: "recorded a second", bytesPerEvent: "bytes of Redis for each event" },
      ...{ bytesPerGroup: "bytes of a group with one event", errorPercent: "error of a p99, %" },
    },
    kept: (row) => isLarge(row) && typeof row.eventsPerSecond === "number",
  },
  shards: {
    ...{ bench: "shards", title: "One series on several servers: events a second at which the busiest is full" },
    ...{ rows: { structure: "structure", shards: "shards" } },
    values: {
      ...{ usPerEvent: "µs of all servers for each event", usOfBusiest: "µs of the busiest" },
      ...{ eventsPerSecond: "events a second at which it is full" },
    },
  },
  traffic: {
    ...{ bench: "traffic", title: "A call: bytes that Redis gets" },
    ...{ rows: { structure: "structure", shards: "shards", call: "call", batch: "events" } },
    values: { bytesIn: "bytes to Redis", bytesOut: "bytes from Redis", commands: "commands" },
  },
  "growth-totals": {
    ...{ bench: "growth", title: "A simulated fleet", rows: { what: "what" }, values: { count: "how many" } },
    kept: ({ what }) => what !== "",
    plotted: () => false,
  },
  growth: {
    ...{ bench: "growth", title: "A simulated fleet, second by second", rows: { second: "second" } },
    values: {
      ...{ acknowledged: "events acknowledged", failed: "refused or late", answers: "answers" },
      ...{ degradedPercent: "of these degraded, %", missingPercent: "shards that they lack, %" },
      ...{ busiestSteps: "steps of the busiest primary", meanSteps: "in the mean" },
      ...{ askerBytes: "bytes to an asker", grownPercent: "processes with more shards, %" },
    },
    kept: ({ second }) => typeof second === "number" && second % 5 === 4,
    curves: {
      along: "second",
      all: [
        {
          title: "Answers, %",
          columns: { degradedPercent: "degraded", missingPercent: "the share of the shards that they lack" },
        },
        { title: "Steps of a primary in a second", columns: { busiestSteps: "the busiest", meanSteps: "the mean" } },
        { title: "Bytes that an asker gets in a second", columns: { askerBytes: "bytes" } },
        { title: "Events that were not acknowledged in time", columns: { failed: "events" } },
        { title: "Processes that name the larger number of shards, %", columns: { grownPercent: "share" } },
      ],
    },
  },
  admitted: {
    ...{ bench: "admitted", title: "Calls that a limit admits in a window while its store is away, % of the limit" },
    ...{ rows: { what: "outage", processes: "processes", share: "each decides by" } },
    values: {
      ...{ during: "largest window after the first, % of the limit", begin: "first window, %" },
      ...{ mean: "mean of the outage, %", end: "first window after it, %" },
    },
    plotted: ({ processes }) => processes === 16,
  },
  cluster: {
    ...{ bench: "cluster", title: "Three client processes: records per second", rows: { layout: "layout" } },
    values: { recordsPerSecond: "records per second", serverUsPerRecord: "µs of the server for each" },
  },
  memory: {
    ...{ bench: "memory", title: "Memory of Redis: bytes for each event", rows: { layout: "method" } },
    values: { bytesPerEvent: "bytes for each event" },
  },
  sealed: {
    ...{ bench: "sealed", title: "A reader without a copy, 1 M events: bytes fetched" },
    ...{ rows: { values: "values", events: "events", batch: "batch", form: "form" } },
    values: { bytes: "fetched", bytesPerEvent: "bytes an event", requests: "requests", ms: "ms" },
    plotted: (row) => isLarge(row) && row.batch === 32 && row.values === "rounded to 1 us",
  },
  bytes: {
    ...{ bench: "bytes", title: "Stored: bytes for each event" },
    ...{ rows: { values: "values", batch: "batch", by: "stored by", source: "source" } },
    values: { bytesPerEvent: "bytes for each event", memoryPerEvent: "memory of Redis for each" },
    plotted: ({ values, batch }) => batch === 1 && values === "rounded to 1 us",
  },
  summaries: {
    ...{ bench: "summaries", title: "Bytes for p50, p90 and p99 of 1 M events" },
    ...{ rows: { values: "values", by: "method", setting: "setting" } },
    values: { bytes: "bytes", p50ValuePercent: "p50, %", p90ValuePercent: "p90, %", p99ValuePercent: "p99, %" },
    plotted: () => false,
  },
  blocks: {
    ...{ bench: "blocks", title: "Bytes for each event", rows: { events: "events", by: "method" } },
    values: { bytesPerEvent: "bytes for each event", encode: "encode, M/s", decode: "decode, M/s" },
    kept: ({ events }) => /^lognormal to 1 µs|^(lognormal, unrounded|random bits), batches/.test(String(events)),
    plotted: ({ events }) => events === "lognormal to 1 µs, batches of 32",
  },
  lock: {
    ...{ bench: "lock", title: "Acquire and release a lock: pairs per second" },
    ...{ rows: { load: "clients × callers", lock: "package" } },
    values: { pairsPerSecond: "pairs per second", served: "callers served", handOverP50Ms: "to another client, ms" },
  },
  semaphore: {
    ...{ bench: "semaphore", title: "Acquire and release a permit: pairs per second" },
    ...{ rows: { kind: "kind", load: "clients × callers", lock: "package" } },
    values: { pairsPerSecond: "pairs per second", served: "callers served" },
  },
  limiters: {
    ...{
      bench: "limiters",
      title: "Calls per second, as a multiple of rate-limiter-flexible",
      rows: { limiter: "limiter" },
    },
    ...{ across: "load", values: { timesFaster: "times" } },
    kept: ({ timesFaster }) => typeof timesFaster === "number",
    plotted: ({ load }) => /^10.?000 ids, all admitted$/.test(String(load)),
  },
  "limiter-bytes": {
    ...{ bench: "limiters", title: "Memory of Redis for an id: bytes", rows: { limiter: "limiter", kind: "kind" } },
    values: { bytesPerId: "bytes" },
    kept: ({ load, bytesPerId }) => /^10.?000 ids, all/.test(String(load)) && typeof bytesPerId === "number",
    plotted: () => false,
  },
  "limiter-ids": {
    ...{ bench: "limiterIds", title: "A million ids: first calls per second, as a multiple of rate-limiter-flexible" },
    rows: { limiter: "limiter" },
    values: { timesFaster: "times", bytes1: "bytes after one call", bytes100: "bytes after a hundred" },
  },
  counters: {
    ...{ bench: "counters", title: "Count events: events per second" },
    ...{ rows: { rows: "rows", callers: "callers", eventsPerCall: "events in a call" }, across: "counter" },
    values: { eventsPerSecond: "events per second" },
  },
  sql: {
    ...{ bench: "sql", title: "Write counts into a database: rows per second", rows: durable, across: "writer" },
    values: { rowsPerSecond: "rows per second" },
  },
  queue: {
    ...{ bench: "queue", title: "Times better than BullMQ", rows: { what: "work" } },
    values: { timesBetter: "times better", BullMQ: "BullMQ", oriel: "oriel" },
  },
  storms: {
    ...{
      bench: "storms",
      title: "Storms of faults: the most calls in a second",
      rows: { job: "job", contender: "package", fault: "counted" },
    },
    values: { count: "how often", of: "of" },
    plotted: ({ job }) => job === "limit", // the other rows count other things
  },
  metrics: {
    ...{ bench: "metrics", title: "Record one latency: ns", rows: { by: "method" } },
    values: { recordNs: "ns to record", questionUs: "µs to ask" },
  },
  breaker: {
    ...{ bench: "breaker", title: "A closed call: ns", rows: { breaker: "breaker" } },
    values: { nsPerCall: "ns for a call", nsForBreaker: "of these the breaker" },
  },
  resident: {
    ...{
      bench: "resident",
      title: "One process, 1 M events: µs",
      rows: { values: "values", events: "events", what: "question" },
    },
    values: { us: "µs", timesFaster: "times NumPy" },
    kept: ({ us }) => typeof us === "number",
    plotted: (row) => isLarge(row) && row.values === "lognormal",
  },
  compact: {
    ...{ bench: "compact", title: "Compact windows" },
    ...{ rows: { values: "values", events: "events", what: "question" } },
    values: {
      ...{ plainUs: "µs", compactUs: "µs, compact", times: "times" },
      ...{ plainBytes: "bytes an event", compactBytes: "bytes, compact" },
    },
    plotted: () => false,
  },
  live: {
    ...{ bench: "live", title: "Record and ask for a percentile: ns" },
    ...{ rows: { values: "values", events: "events", percentile: "percentile" } },
    values: { pairNs: "ns for both", recordNs: "ns to record" },
    plotted: isLarge,
  },
  kernels: {
    ...{ bench: "kernels", title: "1 M float32: µs", rows: { computation: "computation" }, across: "form" },
    values: { medianUs: "µs" },
    plotted: ({ computation }) => computation === "p99",
  },
  pipeline: {
    ...{
      bench: "pipeline",
      title: "All statistics of 1 M events: µs",
      rows: { values: "values", computation: "computation" },
    },
    ...{ across: "by", values: { medianUs: "µs" } },
    plotted: () => false,
  },
  rolling: {
    ...{ bench: "rolling", title: "A percentile of each window: ns for each event" },
    ...{ rows: { window: "window", percentile: "percentile", type: "type" }, across: "by" },
    values: { nanosecondsPerSlide: "ns" },
    plotted: () => false,
  },
  imports: {
    ...{ bench: "imports", title: "CPU time to import a package", rows: { import: "import" } },
    values: { cpuMs: "CPU, ms", timesEmpty: "times an empty process" },
    plotted: () => false,
  },
  runtimes: {
    ...{ bench: "runtimes", title: "Speed in other runtimes; that of Node 20 is 1", rows: { what: "work" } },
    ...{ across: "runtime", values: { timesNode: "times" } },
    kept: ({ timesNode }) => typeof timesNode === "number",
    plotted: ({ what }) => String(what).startsWith("stats"),
  },
  sketches: {
    ...{ bench: "sketches", title: "Sketches: ns to record", rows: { by: "sketch", promise: "promise" } },
    values: { recordNs: "record, ns", questionUs: "ask for p99, µs", errorPercent: "error, %" },
    kept: ({ values }) => values === "lognormal",
  },
};
