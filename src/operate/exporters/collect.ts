import { argumentError } from "../../base/errors.ts";
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

/**
 * Collects the samples of each name. A source that rejects does not stop the others. If all reject, rejects with the
 * first reason. Samples with the same labels are combined, so each is there once.
 */
export async function collectFrom(sources: readonly MetricsSource[]): Promise<Map<string, Sample[]>> {
  const byName = new Map<string, Map<string, Sample>>();
  const errors: unknown[] = [];
  const parts = new Set(sources.flatMap((source) => source.parts?.() ?? [source]));
  await Promise.all(
    [...parts].map(async (source) => {
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
  if (errors.length > 0 && errors.length === parts.size) throw errors[0];
  const all = new Map([...byName].map(([name, samples]) => [name, [...samples.values()]]));
  return all.set(FAILED.prometheus, [{ value: errors.length, labels: {} }]);
}

function combine(known: Map<string, Sample>, sample: Sample, aggregator: "sum" | "max"): void {
  const key = sampleKey(sample);
  const other = known.get(key);
  if (!other) known.set(key, { ...sample });
  else if (aggregator === "sum") other.value += sample.value;
  else other.value = Math.max(other.value, sample.value);
}

/** One source made of several. `partsOf` is called at each collection. */
export function together(metrics: readonly MetricInfo[], partsOf: () => readonly MetricsSource[]): MetricsSource {
  const parts = () => partsOf().flatMap((each) => each.parts?.() ?? [each]);
  return {
    metrics,
    parts,
    async collect() {
      const all = await collectFrom(parts());
      return metrics.map(({ prometheus }) => all.get(prometheus) ?? []);
    },
  };
}
