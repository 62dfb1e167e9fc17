import { argumentError } from "../errors.ts";
import type { MetricView } from "../metrics/metric-view.ts";

/** Where numbers are read from: a `FleetMetrics`, or the windows of this process by their names. */
export type MetricsSource = FleetSource | { readonly [name: string]: MetricView } | ReadonlyMap<string, MetricView>;

interface FleetSource {
  readAll(): Promise<ReadonlyMap<string, MetricView>>;
  latencyPercentilesMs(name: string, percentiles: readonly number[]): Promise<readonly number[]>;
}

/** One name's numbers, and the percentiles of its response times in ms. */
export interface NamedNumbers {
  name: string;
  view: MetricView;
  latencyPercentilesMs: readonly number[];
}

/** Throws ARGUMENT for what is neither; rejects with what the store rejects with. */
export async function readSource(source: MetricsSource, percentiles: readonly number[]): Promise<NamedNumbers[]> {
  if (source === null || typeof source !== "object")
    throw argumentError("source", source, "a FleetMetrics, or windows by their names");
  if (isFleet(source)) {
    const all = await source.readAll();
    const none = percentiles.length === 0;
    return Promise.all(
      [...all].map(async ([name, view]) => ({
        name,
        view,
        latencyPercentilesMs: none ? [] : await source.latencyPercentilesMs(name, percentiles),
      })),
    );
  }
  const all = source instanceof Map ? [...source] : Object.entries(source);
  return all.map(([name, view]) => ({
    name,
    view,
    latencyPercentilesMs: percentiles.map((each) => view.latencyPercentileMs(each)),
  }));
}

function isFleet(source: MetricsSource): source is FleetSource {
  return typeof (source as Partial<FleetSource>).readAll === "function";
}
