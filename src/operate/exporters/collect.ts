import { argumentError } from "../../base/errors.ts";
import { merged } from "./histogram.ts";
import { type MetricInfo, type MetricsSource, type Sample, sampleKey } from "./metric.ts";

/** One source or several. Metrics with the same name in several sources are merged. */
export type MetricsSources = MetricsSource | readonly MetricsSource[];

const FAILED: MetricInfo = {
  prometheus: "exporter_failed_sources",
  otel: "exporter.failed_sources",
  type: "gauge",
  unit: "{source}",
  help: "Sources that could not be read this time. Their metrics are missing.",
  isShared: false,
};

/** Throws ARGUMENT. */
export function sourcesOf(given: MetricsSources): readonly MetricsSource[] {
  const sources = (Array.isArray(given) ? given : [given]) as readonly MetricsSource[];
  for (const each of sources)
    if (typeof each?.collect !== "function" || !Array.isArray(each.metrics))
      throw argumentError("source", each, "made by registerAll, fleetSource, limiterSource or another of oriel's");
  return sources;
}

/** The metrics of all sources, each name once. */
export function metricsOf(sources: readonly MetricsSource[]): MetricInfo[] {
  const byName = new Map<string, MetricInfo>();
  for (const { metrics } of sources) for (const each of metrics) byName.set(each.prometheus, each);
  return [...byName.values(), FAILED];
}

export function aggregatorOf({ aggregator, isShared }: MetricInfo): "sum" | "max" {
  return aggregator ?? (isShared ? "max" : "sum");
}

/** Same as `collectEach`. If all sources reject, rejects with the first reason. */
export async function collectFrom(sources: readonly MetricsSource[]): Promise<Map<string, Sample[]>> {
  const parts = partsOf(sources);
  const { all, errors } = await collectEach(parts);
  if (errors.length > 0 && errors.length === parts.length) throw errors[0];
  return all;
}

export function partsOf(sources: readonly MetricsSource[]): MetricsSource[] {
  return [...new Set(sources.flatMap((source) => source.parts?.() ?? [source]))];
}

/**
 * Collects the samples of each name. A source that rejects does not stop the others. Samples with the same labels are
 * combined, so each is there once.
 */
export async function collectEach(
  parts: readonly MetricsSource[],
): Promise<{ all: Map<string, Sample[]>; errors: unknown[] }> {
  const byName = new Map<string, Map<string, Sample>>();
  const errors: unknown[] = [];
  await Promise.all(
    parts.map(async (source) => {
      try {
        const samples = await source.collect();
        for (const [i, info] of source.metrics.entries()) {
          const known = byName.get(info.prometheus) ?? new Map<string, Sample>();
          byName.set(info.prometheus, known);
          for (const sample of samples[i]!) combine(known, sample, aggregatorOf(info));
        }
      } catch (error) {
        errors.push(error);
      }
    }),
  );
  const all = new Map([...byName].map(([name, samples]) => [name, [...samples.values()]]));
  all.set(FAILED.prometheus, [{ value: errors.length, labels: {} }]);
  return { all, errors };
}

function combine(known: Map<string, Sample>, sample: Sample, aggregator: "sum" | "max"): void {
  const key = sampleKey(sample);
  const other = known.get(key);
  if (!other) {
    known.set(key, { ...sample });
    return;
  }
  if (other.histogram && sample.histogram) other.histogram = merged(other.histogram, sample.histogram);
  if (aggregator === "sum") other.value += sample.value;
  else other.value = Math.max(other.value, sample.value);
}

/** One source made of several. `made` is called at each collection. */
export function together(metrics: readonly MetricInfo[], made: () => readonly MetricsSource[]): MetricsSource {
  const parts = () => partsOf(made());
  return {
    metrics,
    parts,
    async collect() {
      const all = await collectFrom(parts());
      return metrics.map(({ prometheus }) => all.get(prometheus) ?? []);
    },
  };
}
