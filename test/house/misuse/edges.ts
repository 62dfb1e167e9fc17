import { dashboard } from "../../../src/entries/api/dashboard.ts";
import * as http from "../../../src/entries/http.ts";
import * as oriel from "../../../src/entries/index.ts";
import * as sql from "../../../src/entries/sql.ts";
import * as telemetry from "../../../src/entries/telemetry.ts";
import type { MemoryStore } from "../../../src/store/memory/memory.ts";
import type { Right, Subject } from "./walk.ts";

const nothing: Right = () => [];
const limiter = (store: MemoryStore) =>
  new oriel.Limiter(store, [oriel.slidingWindow({ limit: 10, span: 1000 })], { name: "a" });
const middleware = () => ({
  ...{ key: () => "k", ipv6Prefix: 64, cost: 1, skip: () => false, headers: { legacy: true } },
  ...{ partitionKey: () => "p", onError: "throw" },
});
const decision = { allowed: false, retryAfterMs: 5, permits: [], decidedBy: null, policies: [] };
const shape = () => ({ name: "a", dimensions: ["a"], buckets: ["minute"] });
const limits = () => ({ timeoutMs: 100, signal: new AbortController().signal });
const batch = () => ({ shard: 0, generation: 1, nonce: "n", fence: 0, events: 1n, rows: [] });
const columns = () => ({ bucket: "b", start: "s", count: "c", dimensions: { a: "x" } });
const names = () => ({ table: "t", ledgerTable: "l", schema: "s", columns: columns() });
const repairs = { inDoubt: "drop", acceptMissing: true, otherIsGone: true, setAside: true, mendSums: true };
const pool = () => ({ connect: async () => fail(), getConnection: async () => fail(), exec: fail, prepare: fail });
function fail(): never {
  throw new Error("the pool has no connection");
}
class Pool {}
const aPool = () => Object.assign(new Pool(), pool());
const counters = (store: MemoryStore) => new oriel.Counters(store, "a", { dimensions: ["a"], shards: 1 });
const sink = () => sql.postgresSink(aPool() as never);
const SINKS = {
  postgresSink: sql.postgresSink,
  mysqlSink: sql.mysqlSink,
  sqliteSink: sql.sqliteSink,
  oracleSink: sql.oracleSink,
};
const SINK: Record<string, Right> = {
  ddl: () => [shape()],
  createTables: () => [shape(), limits()],
  apply: () => [shape(), batch(), limits()],
  ledger: () => [shape(), limits()],
  read: () => [shape(), { bucket: "minute", fromMs: 0, toMs: 60_000 }, limits()],
};
const source = () => oriel.windowSource({});
class Tracer {
  startActiveSpan() {}
}
class Registry {
  registerMetric() {}
  removeSingleMetric() {}
}
const exported = () => ({ prefix: "oriel", labels: { a: "b" } });
const worker = () => ({ on: () => () => {} });

/** HTTP, databases, drains, exporters: the borders to other software. */
export const EDGES: Record<string, Subject> = {
  httpStore: {
    called: oriel.httpStore,
    right: () => [
      {
        ...{ url: "http://127.0.0.1:1", token: "t", fetch: () => Promise.reject(new Error("no")), prefix: "a:" },
        ...{ deadline: 50, maxPendingBytes: 1e6, onWarning: null, registry: false },
        ...{ scriptOf: () => ({ text: "" }), monotonic: () => 0 },
      },
    ],
  },
  decisionOf: { data: ["new"], called: http.decisionOf, right: () => [{}] },
  clientKey: { called: http.clientKey, right: () => ["10.0.0.1", { ipv6Prefix: 64 }] },
  problemOf: { data: ["new"], called: http.problemOf, right: () => [decision] },
  rateLimitHeaders: {
    data: ["new"],
    called: http.rateLimitHeaders,
    right: () => [
      decision,
      {
        ...{ legacy: "unix", partitionKey: "p", units: { a: "requests" }, retryJitter: 5 },
        ...{ random: () => 0, clock: Date.now },
      },
    ],
  },
  expressLimiter: {
    called: http.expressLimiter,
    right: (store) => [limiter(store), { ...middleware(), onDenied: () => {} }],
  },
  fastifyLimiter: {
    called: http.fastifyLimiter,
    right: (store) => [limiter(store), { ...middleware(), onDenied: () => {} }],
  },
  honoLimiter: {
    called: http.honoLimiter,
    right: (store) => [limiter(store), { ...middleware(), onDenied: () => {} }],
  },
  fetchLimiter: {
    called: http.fetchLimiter,
    right: (store) => [limiter(store), () => new Response(), { ...middleware(), onDenied: () => new Response() }],
  },
  expressRateLimitStore: {
    called: http.expressRateLimitStore,
    right: (store) => [limiter(store), { prefix: "a", clock: Date.now }],
  },
  ExpressRateLimitStore: {
    object: (store) => http.expressRateLimitStore(limiter(store)),
    methods: Object.fromEntries(["get", "increment", "decrement", "resetKey"].map((name) => [name, () => ["k"]])),
  },
  elysiaRateLimitContext: {
    called: http.elysiaRateLimitContext,
    right: (store) => [limiter(store), { prefix: "a", clock: Date.now }],
  },
  fastifyRateLimitStore: { called: http.fastifyRateLimitStore, right: (store) => [limiter(store)] },
  nestThrottlerStorage: { called: http.nestThrottlerStorage, right: (store) => [limiter(store)] },
  nestModule: { data: ["new"], called: http.nestModule, right: (store) => [store, { latency: {} }] },
  longestValue: { data: ["new"], called: sql.longestValue, right: () => [shape()] },
  ...Object.fromEntries(
    (["postgresSink", "mysqlSink", "sqliteSink", "oracleSink"] as const).flatMap((name) => {
      const make = SINKS[name] as (...args: unknown[]) => unknown;
      const right = () => [aPool(), name === "oracleSink" ? { ...names(), knownKeys: 10 } : names()];
      return [
        [name, { called: make, right }],
        [`sink of ${name}`, { object: () => make(aPool()), methods: SINK, data: Object.keys(SINK) }],
      ];
    }),
  ),
  CountersDoctor: {
    data: ["new"],
    called: oriel.CountersDoctor,
    right: (store) => [counters(store), sink()],
    methods: { diagnose: () => [{ sums: true }], layout: nothing, repair: () => [repairs] },
  },
  DrainService: {
    called: oriel.DrainService,
    right: (store) => [
      {
        ...{
          counters: counters(store),
          sink: sink(),
          lock: new oriel.Lock(store, "d"),
          every: "10s",
          cycleTimeout: "1s",
        },
        ...{ sqlTimeout: "1s", concurrency: 1, replicas: 0 },
      },
    ],
    methods: { on: () => ["error", () => {}], start: nothing, stop: nothing, drainOnce: nothing },
  },
  registerAll: {
    called: oriel.registerAll,
    right: (store) => [
      store,
      { fleet: "every", maxNames: 5, series: { span: 1000, percentiles: [99], buckets: [1, 2] } },
    ],
  },
  recordHistory: {
    called: oriel.recordHistory,
    right: (store) => [store, { timings: "1h" }],
  },
  breakerSource: {
    called: oriel.breakerSource,
    right: () => [new oriel.Breaker("local", { span: 1000, failures: 3 })],
  },
  drainSource: { called: oriel.drainSource, right: () => ["d", Object.assign(new Pool(), worker())] },
  fleetSource: {
    called: oriel.fleetSource,
    right: (store) => [new oriel.FleetMetrics(store, "a"), { scope: "fleet", percentiles: [99] }],
  },
  limiterSource: { called: oriel.limiterSource, right: (store) => [limiter(store)] },
  queueSource: {
    called: oriel.queueSource,
    right: (store) => [new oriel.DelayQueue(store, "q"), [Object.assign(new Pool(), worker())]],
  },
  seriesSource: {
    called: oriel.seriesSource,
    right: (store) => [new oriel.Series(store, "s"), { span: 1000, percentiles: [99], buckets: [1, 2] }],
  },
  windowSource: {
    called: oriel.windowSource,
    right: () => [{ a: new oriel.MetricWindow({ sampleCount: 1, interval: 1000 }) }, { percentiles: [99] }],
  },
  dashboard: {
    called: dashboard,
    right: (store) => [
      store,
      {
        ...{ token: "0123456789abcdef", hosts: ["localhost"], authorize: () => true, https: true, allowActions: true },
        ...{ maskIds: true, sinks: { a: sink() } },
      },
    ],
  },
  prometheusText: { called: oriel.prometheusText, right: () => [source(), exported()] },
  registerPrometheus: { called: oriel.registerPrometheus, right: () => [new Registry(), source(), exported()] },
  prometheusAnswer: { called: telemetry.prometheusAnswer, right: () => [source(), "text/plain", exported()] },
  otelMetrics: { called: telemetry.otelMetrics, right: () => [source(), exported()] },
  otelSpans: { called: telemetry.otelSpans, right: () => [new Tracer()] },
};
