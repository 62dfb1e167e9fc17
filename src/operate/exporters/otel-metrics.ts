import { within } from "../../base/async/within.ts";
import { settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { collectEach, type MetricsSources, metricsOf, partsOf, sourcesOf } from "./collect.ts";
import type { HistogramCounts, MetricInfo, MetricsSource, PowerCounts, Sample } from "./metric.ts";
import { EXPORTER, type ExporterOptions } from "./options.ts";
import { Powers } from "./powers.ts";

/** A `MetricProducer` of @opentelemetry/sdk-metrics 2. */
export interface OtelMetricProducer {
  collect(options?: { timeoutMillis?: number }): Promise<OtelCollectionResult>;
}

/** All metrics, and the errors of the sources that are missing. */
export interface OtelCollectionResult {
  resourceMetrics: {
    /** Empty. The reader takes that of its provider. */
    // biome-ignore lint/suspicious/noExplicitAny: programs cannot implement the type there.
    resource: any;
    scopeMetrics: { scope: { name: string }; metrics: OtelMetric[] }[];
  };
  errors: unknown[];
}

/** A metric. The numbers are members of enumerations there: all are cumulative. */
export type OtelMetric = {
  descriptor: { name: string; description: string; unit: string; valueType: 1 };
  aggregationTemporality: 1;
} & (
  | { dataPointType: 3; isMonotonic: true; dataPoints: OtelPoint<number>[] }
  | { dataPointType: 2; dataPoints: OtelPoint<number>[] }
  | { dataPointType: 0; dataPoints: OtelPoint<OtelHistogram>[] }
  | { dataPointType: 1; dataPoints: OtelPoint<OtelExponentialHistogram>[] }
);

/** The number or the histogram of one set of labels, since this process began. */
export interface OtelPoint<Value> {
  startTime: [seconds: number, nanoseconds: number];
  endTime: [seconds: number, nanoseconds: number];
  attributes: Record<string, string>;
  value: Value;
}

/** Counts by boundaries that a program asked for. `counts` has one more than `boundaries`. */
export interface OtelHistogram {
  buckets: { boundaries: number[]; counts: number[] };
  count: number;
  sum?: number;
}

/** Counts by powers of 2 ** (2 ** -scale). Those of each side begin with the power `offset`. */
export interface OtelExponentialHistogram {
  scale: number;
  zeroCount: number;
  positive: { offset: number; bucketCounts: number[] };
  negative: { offset: number; bucketCounts: number[] };
  count: number;
  sum?: number;
}

/**
 * A producer of metrics for a reader of OpenTelemetry, which exports them with its own. Names are `oriel.window...`, units
 * are UCUM. A histogram has the buckets that a program asked for, else it is exponential. A source that cannot be read,
 * or not in the time that the reader gives, is left out and counted in `exporter.failed_sources`. Numbers are
 * cumulative, whatever the exporter prefers. Throws ARGUMENT.
 *
 * @example
 * new PeriodicExportingMetricReader({ exporter, metricProducers: [otelMetrics(registerAll(store))] });
 */
export function otelMetrics(source: MetricsSources, options: ExporterOptions = {}): OtelMetricProducer {
  return atSite("otelMetrics", () => {
    const { prefix, labels } = settingsOf(EXPORTER, options);
    const sources = sourcesOf(source);
    return {
      async collect({ timeoutMillis } = {}) {
        const { all, errors } = await collectEach(partsOf(sources).map((each) => inTime(each, timeoutMillis)));
        const endMs = Date.now();
        const metrics = metricsOf(sources).flatMap((info) => {
          const points = (all.get(info.prometheus) ?? []).map((sample) => ({
            // No count of this process began earlier.
            startTime: timeOf(performance.timeOrigin),
            endTime: timeOf(endMs),
            attributes: { ...labels, ...sample.labels },
            sample,
          }));
          return points.length === 0 ? [] : [metricOf(prefix, info, points)];
        });
        const resource = { attributes: {}, merge: <Other>(other: Other) => other, getRawAttributes: () => [] };
        return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: "oriel" }, metrics }] }, errors };
      },
    };
  });
}

function inTime({ metrics, collect }: MetricsSource, timeoutMs: number | undefined): MetricsSource {
  if (timeoutMs === undefined) return { metrics, collect };
  return {
    metrics,
    async collect() {
      const outcome = await within(collect(), timeoutMs, true);
      if (outcome.kind === "done") return outcome.value;
      if (outcome.kind === "failed") throw outcome.error;
      throw new Error(`a source of metrics has not answered within ${timeoutMs} ms`);
    },
  };
}

function timeOf(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - 1000 * seconds) * 1e6)];
}

function metricOf(
  prefix: string,
  info: MetricInfo,
  points: (Omit<OtelPoint<never>, "value"> & { sample: Sample })[],
): OtelMetric {
  const { otel, help, unit, type } = info;
  const about = {
    descriptor: { name: `${prefix}.${otel}`, description: help, unit, valueType: 1 },
    aggregationTemporality: 1,
  } as const;
  const pointsBy = <Value>(read: (sample: Sample) => Value): OtelPoint<Value>[] =>
    points.map(({ sample, ...point }) => ({ ...point, value: read(sample) }));
  const histogramsBy = <Value>(read: (histogram: HistogramCounts) => Value) =>
    pointsBy(({ histogram }) => read(histogram!));
  if (type === "counter")
    return { ...about, dataPointType: 3, isMonotonic: true, dataPoints: pointsBy(({ value }) => value) };
  if (type === "gauge") return { ...about, dataPointType: 2, dataPoints: pointsBy(({ value }) => value) };
  if (points.some(({ sample }) => sample.histogram!.isAsked))
    return { ...about, dataPointType: 0, dataPoints: histogramsBy(histogramOf) };
  return { ...about, dataPointType: 1, dataPoints: histogramsBy(exponentialOf) };
}

function histogramOf({ boundaries, counts, ...rest }: HistogramCounts): OtelHistogram {
  return { buckets: { boundaries: [...boundaries], counts: Array.from(counts) }, ...totalsOf(counts, rest) };
}

function totalsOf(counts: ArrayLike<number>, { sum, powers }: Pick<HistogramCounts, "sum" | "powers">) {
  const count = Array.from(counts).reduce((a, b) => a + b);
  // Its sums must not fall.
  return powers.negative.size > 0 ? { count } : { count, sum };
}

/** As wide as the SDK's own. */
const MAX_WIDTH = 160;

function exponentialOf({ counts, ...rest }: HistogramCounts): OtelExponentialHistogram {
  const powers = new Powers();
  powers.merge(rest.powers);
  while (widthOf(powers.positive) > MAX_WIDTH || widthOf(powers.negative) > MAX_WIDTH)
    powers.coarsen(powers.schema - 1);
  return {
    scale: powers.schema,
    zeroCount: powers.zeros,
    positive: bucketsOf(powers.positive),
    negative: bucketsOf(powers.negative),
    ...totalsOf(counts, rest),
  };
}

type Side = PowerCounts["positive"];

function widthOf(side: Side): number {
  return side.size === 0 ? 0 : Math.max(...side.keys()) - Math.min(...side.keys()) + 1;
}

/** Its buckets are counted from their lower boundaries. */
function bucketsOf(side: Side): { offset: number; bucketCounts: number[] } {
  if (side.size === 0) return { offset: 0, bucketCounts: [] };
  const first = Math.min(...side.keys());
  return {
    offset: first - 1,
    bucketCounts: Array.from({ length: widthOf(side) }, (_, i) => side.get(first + i) ?? 0),
  };
}
