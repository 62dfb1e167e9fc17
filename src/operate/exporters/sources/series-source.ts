import { argumentError } from "../../../base/errors.ts";
import { settingsOf } from "../../../base/options.ts";
import { atSite } from "../../../base/site.ts";
import type { Duration } from "../../../base/time.ts";
import { tap } from "../../../store/registry/live.ts";
import { together } from "../collect.ts";
import { Histograms } from "../histogram.ts";
import { type MetricInfo, type MetricsSource, Names } from "../metric.ts";
import { GROUP_METRICS, GroupCounts, type GroupLike, groupWindow, isGroup } from "./group-source.ts";
import {
  SERIES_SOURCE,
  type SeriesSettings,
  type SeriesSourceOptions,
  type StatsLike,
  windowGauge,
  windowOf,
  windowSamples,
} from "./series-settings.ts";

/** The members of `Series` that this source uses. */
export interface SeriesLike {
  readonly name: string;
  readonly retentionMs: number;
  stats(options: { span: Duration; percentiles: readonly number[]; maxAge: Duration }): Promise<StatsLike>;
  [tap](listener: (values: ArrayLike<number>) => void): void;
}

/** Exporters, dashboards and programs that ask the same question share an answer. Scrapes are rarer. */
const MAX_AGE_MS = 1000;

/** Groups of one `SeriesGroup` with numbers of their own. */
const MAX_ROWS = 100;

/**
 * A histogram of the values that this process records from now on, and exact statistics of the sliding window over all
 * processes, in the unit that was recorded. Of a `SeriesGroup` the same for each group, and for at most 100 of them. Throws ARGUMENT.
 */
export function seriesSource(series: SeriesLike | GroupLike, options: SeriesSourceOptions = {}): MetricsSource {
  return atSite("seriesSource", () => {
    const settings = settingsOf(SERIES_SOURCE, options);
    const names = new Names();
    if (isGroup(series)) {
      const counts = new GroupCounts(names, settings.buckets, MAX_ROWS);
      counts.attach(series);
      const parts = [counts.source, groupWindow(series, names, settings, MAX_ROWS)];
      return together(GROUP_METRICS, () => parts);
    }
    if (!isSeries(series)) throw argumentError("series", series, "a Series or a SeriesGroup");
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
  windowGauge("series", "events", "{event}", "Events"),
  windowGauge("series", "mean", "1", "Mean of the values"),
  windowGauge("series", "min", "1", "Smallest value"),
  windowGauge("series", "max", "1", "Largest value"),
  windowGauge("series", "percentile", "1", "Exact percentiles of the values"),
];
export const SERIES_METRICS: readonly MetricInfo[] = [VALUES, ...WINDOW];

export function seriesWindow(series: SeriesLike, names: Names, settings: SeriesSettings): MetricsSource {
  return {
    metrics: WINDOW,
    async collect() {
      const window = { span: windowOf(series, settings), percentiles: settings.percentiles };
      const stats = await series.stats({ ...window, maxAge: MAX_AGE_MS });
      return windowSamples(stats, { name: names.labelOf(series.name) }, window);
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
