import type { NamedNumbers } from "./source.ts";

/** One number, with what tells it from the others of its gauge. */
export interface Sample {
  value: number;
  labels: Record<string, string>;
}

/** A gauge as both ecosystems name it: base units, seconds for times. */
export interface Gauge {
  /** After the prefix. */
  prometheus: string;
  otel: string;
  /** By UCUM, as OpenTelemetry has it. */
  unit: string;
  help: string;
  /** An empty window has no times: no sample rather than NaN. */
  samplesOf(numbers: NamedNumbers, percentiles: readonly number[]): Sample[];
}

const OUTCOMES = ["success", "failure", "allowed", "denied"] as const;
const PER_SECOND = {
  success: "successesPerSecond",
  failure: "failuresPerSecond",
  allowed: "allowedPerSecond",
  denied: "deniedPerSecond",
} as const;
/** What has no name of its own: an empty label would be none. */
const OTHERS = "_other";

export const GAUGES: readonly Gauge[] = [
  {
    prometheus: "window_calls_per_second",
    otel: "window.calls.rate",
    unit: "{call}/s",
    help: "Calls per second over the sliding window, by outcome.",
    samplesOf: ({ name, view }) =>
      OUTCOMES.map((outcome) => ({
        value: view[PER_SECOND[outcome]](),
        labels: { name: name || OTHERS, outcome },
      })),
  },
  timeGauge("mean", "Mean response time over the sliding window.", ({ view }) =>
    view.success() > 0 ? view.meanLatencyMs() : Number.NaN,
  ),
  timeGauge("min", "Least response time in the sliding window.", ({ view }) =>
    Number.isFinite(view.maxLatencyMs()) ? view.minLatencyMs() : Number.NaN,
  ),
  timeGauge("max", "Largest response time in the sliding window.", ({ view }) => view.maxLatencyMs()),
  {
    prometheus: "window_response_time_quantile_seconds",
    otel: "window.response_time.quantile",
    unit: "s",
    help: "Exact quantiles of the response times in the sliding window.",
    samplesOf: ({ name, latencyPercentilesMs }, percentiles) =>
      latencyPercentilesMs.flatMap((ms, i) =>
        seconds(ms, { name: name || OTHERS, quantile: `${Number((percentiles[i]! / 100).toPrecision(12))}` }),
      ),
  },
];

function timeGauge(what: "mean" | "min" | "max", help: string, msOf: (numbers: NamedNumbers) => number): Gauge {
  return {
    prometheus: `window_response_time_${what}_seconds`,
    otel: `window.response_time.${what}`,
    unit: "s",
    help,
    samplesOf: (numbers) => seconds(msOf(numbers), { name: numbers.name || OTHERS }),
  };
}

function seconds(ms: number, labels: Record<string, string>): Sample[] {
  return Number.isFinite(ms) ? [{ value: ms / 1000, labels }] : [];
}
