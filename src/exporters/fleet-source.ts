import { argumentError, checkKnown } from "../errors.ts";
import type { MetricView } from "../metrics/metric-view.ts";
import { placed } from "../place.ts";
import { type MetricInfo, type MetricsSource, nameLabel, type Sample } from "./metric.ts";
import { checkPercentiles } from "./options.ts";
import { OUTCOMES, viewMetrics, viewSamples } from "./views.ts";

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
  readonly hasPercentiles: boolean;
  totals(): ReadonlyMap<string, Readonly<Record<(typeof OUTCOMES)[number] | "latencySumMs", number>>>;
  readAll(): Promise<ReadonlyMap<string, MetricView>>;
  latencyPercentilesMs(name: string, percentiles: readonly number[]): Promise<readonly number[]>;
}

const COUNTERS: readonly MetricInfo[] = [
  {
    prometheus: "calls_total",
    otel: "calls",
    type: "counter",
    unit: "{call}",
    help: "Calls counted by this process, by outcome.",
    isShared: false,
  },
  {
    prometheus: "response_time_seconds_total",
    otel: "response_time.sum",
    type: "counter",
    unit: "s",
    help: "Response times of successes counted by this process, added up.",
    isShared: false,
  },
];
const DEFAULT_PERCENTILES = [50, 90, 99];

/** Metrics of a `FleetMetrics`. Throws ARGUMENT. */
export function fleetSource(fleet: FleetLike, options: FleetSourceOptions = {}): MetricsSource {
  return placed("fleetSource", () => {
    checkKnown(options, ["scope", "percentiles"]);
    const { scope = "process" } = options;
    if (typeof fleet?.readAll !== "function" || typeof fleet.totals !== "function")
      throw argumentError("fleet", fleet, "a FleetMetrics");
    if (scope !== "process" && scope !== "fleet" && scope !== "both")
      throw argumentError("scope", scope, '"process", "fleet" or "both"');
    const percentiles = checkPercentiles(options.percentiles ?? (fleet.hasPercentiles ? DEFAULT_PERCENTILES : []));
    const hasCounters = scope !== "fleet";
    const hasGauges = scope !== "process";
    return {
      metrics: [...(hasCounters ? COUNTERS : []), ...(hasGauges ? viewMetrics("fleet") : [])],
      async collect() {
        const gauges = hasGauges ? await gaugesOf(fleet, percentiles) : [];
        return [...(hasCounters ? countersOf(fleet) : []), ...gauges];
      },
    };
  });
}

function countersOf(fleet: FleetLike): Sample[][] {
  const all = [...fleet.totals()].map(([name, totals]) => ({ name: nameLabel(name), totals }));
  return [
    all.flatMap(({ name, totals }) =>
      OUTCOMES.map((outcome) => ({ value: totals[outcome], labels: { name, outcome } })),
    ),
    all.map(({ name, totals }) => ({ value: totals.latencySumMs / 1000, labels: { name } })),
  ];
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
