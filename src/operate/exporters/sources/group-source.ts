import type { Duration } from "../../../base/time.ts";
import { tap } from "../../../store/registry/live.ts";
import { type Histogram, Histograms } from "../histogram.ts";
import { type MetricInfo, type MetricsSource, Names, type Sample } from "../metric.ts";
import { type SeriesSettings, type StatsLike, windowGauge, windowOf, windowSamples } from "./series-settings.ts";

/** The members of `SeriesGroup` that its metrics need. */
export interface GroupLike {
  readonly name: string;
  readonly retentionMs: number;
  readonly labels: readonly string[];
  stats(options: {
    span: Duration;
    percentiles: readonly number[];
  }): Promise<{ rows: readonly (StatsLike & { labels: Readonly<Record<string, string>> })[] }>;
  /** `values`: of the labels, in their order. Those of one group are always the same array. */
  [tap](listener: (value: number, values: readonly string[]) => void): void;
}

export function isGroup(series: unknown): series is GroupLike {
  const { stats, labels } = Object(series) as Partial<GroupLike>;
  return typeof stats === "function" && Array.isArray(labels);
}

const VALUES: MetricInfo = {
  prometheus: "series_group_values",
  otel: "series_group.values",
  type: "histogram",
  unit: "1",
  help: "Values that this process has recorded and the store has acknowledged, by the labels of their group.",
  isShared: false,
};
const WINDOW: readonly MetricInfo[] = [
  windowGauge("series_group", "groups", "{group}", "Groups with events"),
  windowGauge("series_group", "events", "{event}", "Events of a group"),
  windowGauge("series_group", "mean", "1", "Mean of a group's values"),
  windowGauge("series_group", "min", "1", "Smallest value of a group"),
  windowGauge("series_group", "max", "1", "Largest value of a group"),
  windowGauge("series_group", "percentile", "1", "Exact percentiles of a group's values"),
];
export const GROUP_METRICS: readonly MetricInfo[] = [VALUES, ...WINDOW];

/** Labels that these metrics have themselves, or that Prometheus keeps for itself. Renamed ones are renamed again, so none meet. */
const TAKEN = /^(label_)*(name|percentile|span|le|__.*)$/;
const OTHER = "_other";

function labelsOf(
  name: string,
  labels: readonly string[],
  textOf: (label: string, i: number) => string,
): Record<string, string> {
  const own = labels.map((label, i) => [TAKEN.test(label) ? `label_${label}` : label, textOf(label, i)]);
  return { name, ...Object.fromEntries(own) };
}

/** The exact numbers of the `maxRows` groups with the most events, over all processes. */
export function groupWindow(group: GroupLike, names: Names, settings: SeriesSettings, maxRows: number): MetricsSource {
  return {
    metrics: WINDOW,
    async collect() {
      const name = names.labelOf(group.name);
      const window = { span: windowOf(group, settings), percentiles: settings.percentiles };
      const { rows } = await group.stats(window);
      const all: Sample[][] = [[{ value: rows.length, labels: { name } }], ...WINDOW.slice(1).map(() => [])];
      for (const row of rows.slice(0, maxRows)) {
        const labels = labelsOf(name, group.labels, (label) => row.labels[label]!);
        for (const [i, samples] of windowSamples(row, labels, window).entries()) all[i + 1]!.push(...samples);
      }
      return all;
    },
  };
}

/** Histograms of the values by group. The groups of a name beyond `maxRows` share one, whose labels are `_other`. */
export class GroupCounts {
  readonly #names: Names;
  readonly #maxRows: number;
  readonly #values: Histograms;
  readonly #rows = new Map<string, Names>();
  readonly source: MetricsSource = {
    metrics: [VALUES],
    collect: async () => [this.#values.samples()],
  };

  constructor(names: Names, buckets: readonly number[], maxRows: number) {
    this.#names = names;
    this.#maxRows = maxRows;
    this.#values = new Histograms(buckets, (labels) => JSON.parse(labels));
  }

  attach(group: GroupLike): void {
    const { labels } = group;
    const name = this.#names.labelOf(group.name);
    const rows = this.#rows.get(name) ?? new Names(this.#maxRows);
    this.#rows.set(name, rows);
    const known = new Map<readonly string[], Histogram>();
    group[tap]((value, values) => {
      let histogram = known.get(values);
      if (!histogram) {
        const isOwn = rows.has(JSON.stringify(values));
        const own = labelsOf(name, labels, (_, i) => (isOwn ? values[i]! : OTHER));
        histogram = this.#values.of(JSON.stringify(own));
        known.set(values, histogram);
      }
      histogram.add(value);
    });
  }
}
