import { argumentError } from "../errors.ts";
import type { MetricInfo, MetricsSource, Sample } from "./metric.ts";

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
      throw argumentError("source", each, "made by fleetSource, windowSource, limiterSource or another of oriel's");
  return sources;
}

/** The metrics of all sources, each name once. */
export function metricsOf(sources: readonly MetricsSource[]): MetricInfo[] {
  const byName = new Map<string, MetricInfo>();
  for (const { metrics } of sources) for (const each of metrics) byName.set(each.prometheus, each);
  return [...byName.values(), FAILED];
}

/**
 * Collects the samples of each name. A source that rejects does not stop the others. If all reject, rejects with the
 * first reason.
 */
export async function collectFrom(sources: readonly MetricsSource[]): Promise<Map<string, Sample[]>> {
  const byName = new Map<string, Sample[]>();
  const errors: unknown[] = [];
  await Promise.all(
    sources.map(async (source) => {
      try {
        const samples = await source.collect();
        for (const [i, { prometheus }] of source.metrics.entries())
          byName.set(prometheus, [...(byName.get(prometheus) ?? []), ...samples[i]!]);
      } catch (error) {
        errors.push(error);
      }
    }),
  );
  if (errors.length > 0 && errors.length === sources.length) throw errors[0];
  byName.set(FAILED.prometheus, [{ value: errors.length, labels: {} }]);
  return byName;
}
