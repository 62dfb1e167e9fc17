import { argumentError } from "../errors.ts";
import { placed } from "../place.ts";
import { type MetricInfo, type MetricsSource, nameLabel, Totals } from "./metric.ts";

/** The events of `DrainService` that this source counts. */
export interface DrainSourceEvents {
  shard: { rows: number; events: bigint };
  lag: { longestMs: number };
  cycle: { diverged: number };
  error: unknown;
}

/** The members of `DrainService` that this source uses. */
export interface DrainLike {
  on<Name extends keyof DrainSourceEvents>(event: Name, listener: (event: DrainSourceEvents[Name]) => void): () => void;
}

/** Metrics of a drain in this process: what it has written, and how long shards have waited for it. Throws ARGUMENT. */
export function drainSource(name: string, drain: DrainLike): MetricsSource {
  return placed("drainSource", () => {
    if (typeof name !== "string") throw argumentError("name", name, "a string");
    if (typeof drain?.on !== "function") throw argumentError("drain", drain, "a DrainService");
    const label = nameLabel(name);
    const [rows, events, errors] = [new Totals(), new Totals(), new Totals()];
    /** The lag of the current cycle. Its event comes before `cycle`, and is absent without a lag. */
    let reportedMs = 0;
    let lagMs = 0;
    let diverged = 0;
    drain.on("shard", (shard) => {
      rows.add({ name: label }, shard.rows);
      events.add({ name: label }, Number(shard.events));
    });
    drain.on("lag", ({ longestMs }) => {
      reportedMs = longestMs;
    });
    drain.on("cycle", (report) => {
      lagMs = reportedMs;
      reportedMs = 0;
      diverged = report.diverged;
    });
    drain.on("error", () => errors.add({ name: label }));
    return {
      metrics: METRICS,
      async collect() {
        const gauge = (value: number) => [{ value, labels: { name: label } }];
        return [rows.samples(), events.samples(), errors.samples(), gauge(lagMs / 1000), gauge(diverged)];
      },
    };
  });
}

const METRICS: readonly MetricInfo[] = [
  counter("rows", "{row}", "Rows that this process has written."),
  counter("events", "{event}", "Counted events that this process has written."),
  counter("errors", "{error}", "Shards that could not be drained."),
  {
    prometheus: "drain_lag_seconds",
    otel: "drain.lag",
    type: "gauge",
    unit: "s",
    help: "The longest time that a shard had waited to be drained, after the last cycle.",
    isShared: false,
  },
  {
    prometheus: "drain_diverged_shards",
    otel: "drain.diverged_shards",
    type: "gauge",
    unit: "{shard}",
    help: "Shards that are not drained, because table and store do not match.",
    isShared: false,
  },
];

function counter(what: string, unit: string, help: string): MetricInfo {
  return { prometheus: `drain_${what}_total`, otel: `drain.${what}`, type: "counter", unit, help, isShared: false };
}
