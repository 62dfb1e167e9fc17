import { argumentError } from "../../../base/errors.ts";
import { given, oneOf, type Schema, settingsOf } from "../../../base/options.ts";
import { atSite } from "../../../base/site.ts";
import type { MetricView } from "../../../metrics/window/metric-view.ts";
import { tap } from "../../../store/registry/live.ts";
import { together } from "../collect.ts";
import { Histograms, SECONDS } from "../histogram.ts";
import { counter, type MetricInfo, type MetricsSource, nameLabel, type Sample } from "../metric.ts";
import { checkPercentiles, DEFAULT_PERCENTILES } from "../options.ts";
import { OUTCOMES, viewMetrics, viewSamples } from "./window-source.ts";

/** Options of `fleetSource`. */
export interface FleetSourceOptions {
  /**
   * "process" (default): counters of this process since it started; their sum over processes is the fleet's total.
   * "fleet": gauges of the sliding window over all processes, read from the store. Each process reports the same
   * values, so aggregate with `max by (name)`. "both": both.
   */
  scope?: "process" | "fleet" | "both" | undefined;
  /**
   * Percentiles of response times, 0 to 100 each, for scope "fleet". Default 50, 90 and 99 if the fleet keeps
   * percentiles.
   */
  percentiles?: readonly number[] | undefined;
}

/** The members of `FleetMetrics` that this source uses. */
export interface FleetLike {
  readonly name: string;
  readonly hasPercentiles: boolean;
  totals(): ReadonlyMap<string, Readonly<Record<(typeof OUTCOMES)[number], number>>>;
  readAll(): Promise<ReadonlyMap<string, MetricView>>;
  latencyPercentilesMs(name: string, percentiles: readonly number[]): Promise<readonly number[]>;
  on(event: "other", listener: (event: { name: string }) => void): () => void;
  [tap](listener: (name: string, latencyMs: number) => void): void;
}

const COUNTERS: readonly MetricInfo[] = [
  counter("calls", "calls", "{call}", "Calls counted by this process, by outcome."),
  {
    prometheus: "response_time_seconds",
    otel: "response_time",
    type: "histogram",
    unit: "s",
    help: "Response times that this process has recorded.",
    isShared: false,
  },
];
const GAUGES = viewMetrics("fleet");
export const FLEET_METRICS: readonly MetricInfo[] = [...COUNTERS, ...GAUGES];
const FLEET_SOURCE = {
  scope: [oneOf, "process", "process", "fleet", "both"],
  percentiles: [given<readonly number[] | undefined>],
} as const satisfies Schema<FleetSourceOptions>;

/** Metrics of a `FleetMetrics`. Throws ARGUMENT. */
export function fleetSource(fleet: FleetLike, options: FleetSourceOptions = {}): MetricsSource {
  return atSite("fleetSource", () => {
    const { scope, percentiles } = settingsOf(FLEET_SOURCE, options);
    if (!isFleet(fleet)) throw argumentError("fleet", fleet, "a FleetMetrics");
    const gauges = fleetWindow(fleet, percentiles);
    const counters = fleetCounts(fleet);
    const parts = { process: [counters], fleet: [gauges], both: [counters, gauges] }[scope];
    return together(
      parts.flatMap(({ metrics }) => metrics),
      () => parts,
    );
  });
}

export function isFleet(fleet: Partial<FleetLike> | null | undefined): fleet is FleetLike {
  return typeof fleet?.readAll === "function" && typeof fleet.totals === "function";
}

/** The counts of this process, and the response times from now on. */
export function fleetCounts(fleet: FleetLike): MetricsSource {
  const labels = (name: string) => ({ fleet: fleet.name, name: nameLabel(name) });
  const times = new Histograms(SECONDS, labels);
  fleet[tap]((name, latencyMs) => times.of(name).add(latencyMs / 1000));
  fleet.on("other", ({ name }) => times.move(name, ""));
  return {
    metrics: COUNTERS,
    async collect() {
      const all = [...fleet.totals()];
      const calls = all.flatMap(([name, totals]) =>
        OUTCOMES.map((outcome) => ({ value: totals[outcome], labels: { ...labels(name), outcome } })),
      );
      return [calls, times.samples()];
    },
  };
}

/** The sliding window over all processes. Throws ARGUMENT. */
export function fleetWindow(fleet: FleetLike, given: readonly number[] | undefined): MetricsSource {
  const percentiles = checkPercentiles(given ?? (fleet.hasPercentiles ? DEFAULT_PERCENTILES : []));
  const withFleet = (sample: Sample): Sample => ({ ...sample, labels: { fleet: fleet.name, ...sample.labels } });
  return {
    metrics: GAUGES,
    collect: async () => (await gaugesOf(fleet, percentiles)).map((samples) => samples.map(withFleet)),
  };
}

async function gaugesOf(fleet: FleetLike, percentiles: readonly number[]): Promise<Sample[][]> {
  const views = await Promise.all(
    [...(await fleet.readAll())].map(async ([name, view]) => ({
      name,
      view,
      // A name whose latencies cannot be read does not stop the others.
      percentilesMs:
        percentiles.length === 0 ? [] : await fleet.latencyPercentilesMs(name, percentiles).catch(() => []),
    })),
  );
  return viewSamples(views, percentiles);
}
