import { createRequire } from "node:module";
import type { Status } from "opossum";
import { LeapArray, MetricBucket, MetricWindow } from "../../src/entries/index.ts";

const require = createRequire(import.meta.url);

/** Buckets in a minute, as in a breaker or a dashboard. */
export const BUCKETS = 60;
export const SPAN_MS = 60_000;

/** A window of one minute of live metrics in one process. */
export interface Metrics {
  /** Records `count` successes, each with one of the latencies, at the given times if any. */
  record(count: number, latencies: Float64Array): void;
  /** Queries the statistics and returns one number of them. */
  ask(): number | Promise<number>;
  /** Number of counted successes, if it reports them. */
  successes?(): number;
  close?(): void;
}

export interface MetricsRival {
  name: string;
  /** The statistics that `ask` reads. */
  answers: string;
  /** Package that must be installed; none: oriel. */
  module?: string;
  /** True when its memory grows with every record, or when it is slow. It is timed over fewer records. */
  isHeavy?: boolean;
  open(): Metrics;
}

export const GIVEN = "oriel MetricWindow, time given";
export const EACH_MS = "oriel MetricWindow, another time each";
export const OWN = "oriel MetricWindow, own clock";
const MASK = 1023;
const PER_MS = 64;
const BEGIN_MS = 1_600_000_000_000;

export const METRICS_RIVALS: readonly MetricsRival[] = [
  { name: GIVEN, answers: "QPS, mean, min, max", open: () => given(false) },
  { name: EACH_MS, answers: "QPS, mean, min, max", open: () => given(true) },
  { name: OWN, answers: "QPS, mean, min, max", open: () => own(false) },
  { name: "oriel MetricWindow, percentiles", answers: "p99", isHeavy: true, open: () => own(true) },
  { name: "oriel LeapArray of MetricBuckets", answers: "successes", open: leapArray },
  { name: "opossum Status", answers: "all it has", module: "opossum", isHeavy: true, open: opossum },
  { name: "cockatiel SamplingBreaker", answers: "none", module: "cockatiel", open: cockatiel },
  { name: "prom-client Summary", answers: "quantiles", module: "prom-client", isHeavy: true, open: promClient },
];

/** Why a rival cannot be used, or undefined when it can. */
export function metricsMissing({ module }: MetricsRival): string | undefined {
  try {
    if (module) require.resolve(module);
    return undefined;
  } catch {
    return `${module} is not installed (npm ci in bench/)`;
  }
}

const all = (metric: MetricWindow, timeMs?: number) =>
  metric.successesPerSecond(timeMs) +
  metric.meanLatencyMs(timeMs) +
  metric.minLatencyMs(timeMs) +
  metric.maxLatencyMs(timeMs);

/** 64 records at each ms, in one call or each in its own. */
function given(isApart: boolean): Metrics {
  const metric = new MetricWindow({ sampleCount: BUCKETS, interval: SPAN_MS });
  const recordAll = isApart ? recordApart : recordAt;
  let recorded = 0;
  const nowMs = () => BEGIN_MS + (recorded - 1) / PER_MS;
  return {
    record(count, latencies) {
      for (const end = recorded + count; recorded < end; recorded += PER_MS)
        recordAll(metric, latencies, recorded, BEGIN_MS + recorded / PER_MS);
      // Exactly the records since the start of the oldest bucket.
      const [firstMs] = metric.startRange(nowMs());
      const right = recorded - Math.max(0, (firstMs - BEGIN_MS) * PER_MS);
      if (metric.success(nowMs()) !== right)
        throw new Error(`${GIVEN} counted ${metric.success(nowMs())}, not ${right}`);
    },
    ask: () => all(metric, nowMs()),
  };
}

/**
 * Short and called often, so that V8 compiles it as a whole, not in the middle of a loop. It reads the latency once a ms,
 * since the yardstick reads none.
 */
function recordAt(metric: MetricWindow, latencies: Float64Array, from: number, timeMs: number): void {
  const latencyMs = latencies[(from / PER_MS) & MASK] as number;
  for (let i = 0; i < PER_MS; i++) metric.recordSuccess(latencyMs, timeMs);
}

function recordApart(metric: MetricWindow, latencies: Float64Array, from: number, timeMs: number): void {
  for (let i = 0; i < PER_MS; i++) metric.recordSuccess(latencies[(from + i) & MASK] as number, timeMs + i / PER_MS);
}

function own(percentiles: boolean): Metrics {
  const metric = new MetricWindow({ sampleCount: BUCKETS, interval: 60 * SPAN_MS, percentiles });
  return {
    record(count, latencies) {
      for (let i = 0; i < count; i++) metric.recordSuccess(latencies[i & MASK] as number);
    },
    ask: percentiles ? () => metric.latencyPercentileMs(99) : () => all(metric),
    successes: () => metric.success(),
  };
}

function leapArray(): Metrics {
  const ring = new LeapArray(BUCKETS, 60 * SPAN_MS, () => new MetricBucket(), { mode: "exact" });
  const successes = () => ring.values().reduce((sum, bucket) => sum + bucket.success, 0);
  return {
    record(count, latencies) {
      for (let i = 0; i < count; i++)
        ring
          .currentWindow()
          ?.value.addSuccess(1)
          .addLatency(latencies[i & MASK] as number);
    },
    ask: successes,
    successes,
  };
}

function opossum(): Metrics {
  const StatusOf = require("opossum/lib/status.js") as typeof Status;
  const status = new StatusOf({
    rollingCountBuckets: BUCKETS,
    rollingCountTimeout: 60 * SPAN_MS,
    enableSnapshots: false,
  });
  return {
    record(count, latencies) {
      for (let i = 0; i < count; i++) status.increment("successes", latencies[i & MASK] as number);
    },
    ask: () => status.stats.percentiles["0.99"] as number,
    successes: () => status.stats.successes,
    close: () => status.shutdown(),
  };
}

/** It has no latencies. Its answer is whether to open. */
function cockatiel(): Metrics {
  const { SamplingBreaker } = require("cockatiel") as typeof import("cockatiel");
  const breaker = new SamplingBreaker({ threshold: 0.5, duration: SPAN_MS, minimumRps: 1 });
  const closed = 0;
  return {
    record(count) {
      for (let i = 0; i < count; i++) breaker.success(closed);
    },
    ask: () => 0,
  };
}

interface SummaryOptions {
  name: string;
  help: string;
  registers: [];
  maxAgeSeconds: number;
  ageBuckets: number;
}
interface Summary {
  observe(value: number): void;
  get(): Promise<{ values: { metricName?: string; labels: { quantile?: number }; value: number }[] }>;
}

/** Five buckets, as in its documentation: each value is added to all of them. */
function promClient(): Metrics {
  const { Summary } = require("prom-client") as { Summary: new (options: SummaryOptions) => Summary };
  const options: SummaryOptions = {
    name: "rt",
    help: "response times",
    registers: [],
    maxAgeSeconds: SPAN_MS / 1000,
    ageBuckets: 5,
  };
  const summary = new Summary(options);
  const valueWhere = async (isIt: (value: { metricName?: string; labels: { quantile?: number } }) => boolean) =>
    (await summary.get()).values.find(isIt)?.value ?? Number.NaN;
  return {
    record(count, latencies) {
      for (let i = 0; i < count; i++) summary.observe(latencies[i & MASK] as number);
    },
    ask: () => valueWhere(({ labels }) => labels.quantile === 0.99),
  };
}
