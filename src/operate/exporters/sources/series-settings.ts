import { given, type Schema, type SettingsOf } from "../../../base/options.ts";
import { type Duration, durationMs } from "../../../base/time.ts";
import { ANY_UNIT, checkBuckets } from "../histogram.ts";
import { type MetricInfo, type Sample, spanLabel } from "../metric.ts";
import { PERCENTILES } from "../options.ts";

/** Options of `seriesSource`. */
export interface SeriesSourceOptions {
  /** The sliding window of the fleet-wide gauges. Default "1m", or the retention if that is shorter. */
  span?: Duration | undefined;
  /** 0 to 100 each; default 50, 90 and 99. */
  percentiles?: readonly number[] | undefined;
  /** Upper boundaries of the histogram of values, rising. Default 1, 2 and 5 of each power of ten from 0.001 to 500 000. */
  buckets?: readonly number[] | undefined;
}

/** The statistics of a window that a source reports. */
export interface StatsLike {
  count: number;
  mean: number;
  min: number;
  max: number;
  percentiles: Readonly<Record<number, number | undefined>>;
}

export const SERIES_SOURCE = {
  span: [given<Duration | undefined>],
  percentiles: PERCENTILES,
  buckets: [(_: string, buckets: readonly number[]) => checkBuckets(buckets), ANY_UNIT],
} as const satisfies Schema<SeriesSourceOptions>;
export type SeriesSettings = SettingsOf<typeof SERIES_SOURCE>;

const DEFAULT_SPAN_MS = 60_000;

/** A number of all processes. `room` begins its name. */
export function windowGauge(room: string, what: string, unit: string, help: string): MetricInfo {
  return {
    prometheus: `fleet_${room}_${what}`,
    otel: `fleet.${room}.${what}`,
    type: "gauge",
    unit,
    help: `${help} in the sliding window, of all processes.`,
    isShared: true,
  };
}

/** The window of a series' gauges. */
export function windowOf({ retentionMs }: { readonly retentionMs: number }, { span }: SeriesSettings): Duration {
  return span ?? Math.min(DEFAULT_SPAN_MS, retentionMs);
}

/** The samples of count, mean, min, max and percentiles, in this order. A number that does not exist gives none. */
export function windowSamples(
  stats: StatsLike,
  labels: Record<string, string>,
  { span, percentiles }: { span: Duration; percentiles: readonly number[] },
): Sample[][] {
  const spanText = spanLabel(durationMs("span", span));
  const finite = (value: number | undefined, more = {}): Sample[] =>
    value !== undefined && Number.isFinite(value) ? [{ value, labels: { ...labels, ...more } }] : [];
  return [
    finite(stats.count),
    finite(stats.mean),
    finite(stats.min),
    finite(stats.max),
    percentiles.flatMap((each) => finite(stats.percentiles[each], { percentile: `${each}`, span: spanText })),
  ];
}
