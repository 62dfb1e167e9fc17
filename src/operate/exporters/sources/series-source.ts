import { argumentError } from "../../../base/errors.ts";
import { given, type Schema, type SettingsOf, settingsOf } from "../../../base/options.ts";
import { atSite } from "../../../base/site.ts";
import { type Duration, durationMs } from "../../../base/time.ts";
import { tap } from "../../../store/registry/live.ts";
import { together } from "../collect.ts";
import { ANY_UNIT, checkBuckets, Histograms } from "../histogram.ts";
import { type MetricInfo, type MetricsSource, Names, type Sample, spanLabel } from "../metric.ts";
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

/** The members of `Series` that this source uses. */
export interface SeriesLike {
  readonly name: string;
  readonly retentionMs: number;
  stats(options: { span: Duration; percentiles: readonly number[]; maxAge: Duration }): Promise<StatsLike>;
  [tap](listener: (values: ArrayLike<number>) => void): void;
}

export const SERIES_SOURCE = {
  span: [given<Duration | undefined>],
  percentiles: PERCENTILES,
  buckets: [(_: string, buckets: readonly number[]) => checkBuckets(buckets), ANY_UNIT],
} as const satisfies Schema<SeriesSourceOptions>;
export type SeriesSettings = SettingsOf<typeof SERIES_SOURCE>;

const DEFAULT_SPAN_MS = 60_000;
/** Exporters, dashboards and programs that ask the same question share an answer. Scrapes are rarer. */
const MAX_AGE_MS = 1000;

/**
 * A histogram of the values that this process records from now on, and exact statistics of the sliding window over all
 * processes, in the unit that was recorded. Throws ARGUMENT.
 */
export function seriesSource(series: SeriesLike, options: SeriesSourceOptions = {}): MetricsSource {
  return atSite("seriesSource", () => {
    if (!isSeries(series)) throw argumentError("series", series, "a Series");
    const settings = settingsOf(SERIES_SOURCE, options);
    const names = new Names();
    const counts = new SeriesCounts(names, settings.buckets);
    counts.attach(series);
    const parts = [counts.source, seriesWindow(series, names, settings)];
    return together(SERIES_METRICS, () => parts);
  });
}

export function isSeries(series: Partial<SeriesLike> | null | undefined): series is SeriesLike {
  return typeof series?.stats === "function" && typeof series.retentionMs === "number" && !("labels" in series);
}

const VALUES: MetricInfo = {
  prometheus: "series_values",
  otel: "series.values",
  type: "histogram",
  unit: "1",
  help: "Values that this process has recorded and the store has acknowledged.",
  isShared: false,
};
const WINDOW: readonly MetricInfo[] = [
  gauge("events", "{event}", "Events"),
  gauge("mean", "1", "Mean of the values"),
  gauge("min", "1", "Smallest value"),
  gauge("max", "1", "Largest value"),
  gauge("percentile", "1", "Exact percentiles of the values"),
];
export const SERIES_METRICS: readonly MetricInfo[] = [VALUES, ...WINDOW];

function gauge(what: string, unit: string, help: string): MetricInfo {
  return {
    prometheus: `fleet_series_${what}`,
    otel: `fleet.series.${what}`,
    type: "gauge",
    unit,
    help: `${help} in the sliding window, of all processes.`,
    isShared: true,
  };
}

export function seriesWindow(
  series: SeriesLike,
  names: Names,
  { span = Math.min(DEFAULT_SPAN_MS, series.retentionMs), percentiles }: SeriesSettings,
): MetricsSource {
  return {
    metrics: WINDOW,
    async collect() {
      const name = names.labelOf(series.name);
      const spanText = spanLabel(durationMs("span", span));
      const stats = await series.stats({ span, percentiles, maxAge: MAX_AGE_MS });
      const finite = (value: number | undefined, labels = {}): Sample[] =>
        value !== undefined && Number.isFinite(value) ? [{ value, labels: { name, ...labels } }] : [];
      return [
        finite(stats.count),
        finite(stats.mean),
        finite(stats.min),
        finite(stats.max),
        percentiles.flatMap((each) => finite(stats.percentiles[each], { percentile: `${each}`, span: spanText })),
      ];
    },
  };
}

/** Histograms of the values of series, which it does not keep alive. */
export class SeriesCounts {
  readonly #names: Names;
  readonly #values: Histograms;
  readonly source: MetricsSource = {
    metrics: [VALUES],
    collect: async () => [this.#values.samples()],
  };

  constructor(names: Names, buckets: readonly number[]) {
    this.#names = names;
    this.#values = new Histograms(buckets);
  }

  attach(series: SeriesLike): void {
    const histogram = this.#values.of(this.#names.labelOf(series.name));
    series[tap]((values) => {
      for (let i = 0; i < values.length; i++) histogram.add(values[i]!);
    });
  }
}
