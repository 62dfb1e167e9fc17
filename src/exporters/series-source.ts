import { argumentError, checkKnown } from "../errors.ts";
import { placed } from "../place.ts";
import type { Duration } from "../time.ts";
import { type MetricInfo, type MetricsSource, nameLabel, quantileLabel, type Sample } from "./metric.ts";
import { checkPercentiles } from "./options.ts";

export interface SeriesSourceOptions {
  /** The sliding window. */
  span: Duration;
  /** 0 to 100 each; default 50, 90 and 99. */
  percentiles?: readonly number[] | undefined;
}

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
  stats(options: { span: Duration; percentiles: readonly number[] }): Promise<StatsLike>;
}

const DEFAULT_PERCENTILES = [50, 90, 99];

/** Exact statistics of a series' sliding window, in the unit that was recorded. Throws ARGUMENT. */
export function seriesSource(series: SeriesLike, options: SeriesSourceOptions): MetricsSource {
  return placed("seriesSource", () => {
    if (typeof series?.stats !== "function") throw argumentError("series", series, "a Series");
    checkKnown(options, ["span", "percentiles"]);
    const { span } = options;
    const percentiles = checkPercentiles(options.percentiles ?? DEFAULT_PERCENTILES);
    const name = nameLabel(series.name);
    const finite = (value: number | undefined, labels = {}): Sample[] =>
      value !== undefined && Number.isFinite(value) ? [{ value, labels: { name, ...labels } }] : [];
    return {
      metrics: METRICS,
      async collect() {
        const stats = await series.stats({ span, percentiles });
        return [
          finite(stats.count),
          finite(stats.mean),
          finite(stats.min),
          finite(stats.max),
          percentiles.flatMap((each) => finite(stats.percentiles[each], { quantile: quantileLabel(each) })),
        ];
      },
    };
  });
}

const METRICS: readonly MetricInfo[] = [
  gauge("events", "{event}", "Events in the sliding window"),
  gauge("mean", "1", "Mean of the values in the sliding window"),
  gauge("min", "1", "Smallest value in the sliding window"),
  gauge("max", "1", "Largest value in the sliding window"),
  gauge("quantile", "1", "Exact quantiles of the values in the sliding window"),
];

function gauge(what: string, unit: string, help: string): MetricInfo {
  return {
    prometheus: `series_${what}`,
    otel: `series.${what}`,
    type: "gauge",
    unit,
    help: `${help}, of all processes: aggregate with max by (name).`,
    isShared: true,
  };
}
