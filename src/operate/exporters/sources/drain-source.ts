import { argumentError } from "../../../base/errors.ts";
import { atSite } from "../../../base/site.ts";
import { counter, type MetricInfo, type MetricsSource, nameLabel, Totals } from "../metric.ts";

/** The events of `DrainService` that this source counts. */
export interface DrainSourceEvents {
  shard: { rows: number; events: bigint };
  lag: { longestMs: number };
  cycle: { diverged: number };
  error: { shards: readonly number[] };
}

/** The members of `DrainService` that this source uses. */
export interface DrainLike {
  /** Whether this process drains: it was started, and holds the lock if there is one. */
  readonly isDraining: boolean;
  on<Name extends keyof DrainSourceEvents>(event: Name, listener: (event: DrainSourceEvents[Name]) => void): () => void;
}

export interface NamedDrainLike extends DrainLike {
  readonly name: string;
}

export function isDrain(drain: object): boolean {
  return "isDraining" in drain;
}

/** Metrics of a drain in this process: what it has written, and how long shards have waited for it. Throws ARGUMENT. */
export function drainSource(name: string, drain: DrainLike): MetricsSource {
  return atSite("drainSource", () => {
    if (typeof name !== "string") throw argumentError("name", name, "a string");
    if (typeof drain?.on !== "function") throw argumentError("drain", drain, "a DrainService");
    return new DrainCounts(nameLabel(name), drain).source;
  });
}

export const DRAIN_METRICS: readonly MetricInfo[] = [
  counter("drain_rows", "drain.rows", "{row}", "Rows that this process has written."),
  counter("drain_events", "drain.events", "{event}", "Counted events that this process has written."),
  counter("drain_errors", "drain.errors", "{error}", "Failures of shards or cycles, each counted when it began."),
  {
    prometheus: "drain_active",
    otel: "drain.active",
    type: "gauge",
    unit: "1",
    help: "1 if this process drains, else 0. A sum of 0 means that no process drains.",
    isShared: false,
  },
  {
    prometheus: "drain_lag_seconds",
    otel: "drain.lag",
    type: "gauge",
    unit: "s",
    help: "The longest time that a shard has waited to be drained. Only the process that drains reports it.",
    isShared: false,
    aggregator: "max",
  },
  {
    prometheus: "drain_diverged_shards",
    otel: "drain.diverged_shards",
    type: "gauge",
    unit: "{shard}",
    help: "Shards that are not drained, because table and store do not match. Only the process that drains reports it.",
    isShared: false,
    aggregator: "max",
  },
];

/** The counts and the last cycle of one drain. */
class DrainCounts {
  readonly #name: string;
  readonly #drain: DrainLike;
  readonly #rows = new Totals();
  readonly #events = new Totals();
  readonly #errors = new Totals();
  /** The lag of the current cycle. Its event comes before `cycle`, and is absent without a lag. */
  #reportedMs = 0;
  #lagMs = 0;
  #diverged = 0;
  /** When the last cycle ended, if shards waited then, or all cycles since have failed. */
  #lagSinceMs: number | undefined;
  #cycleEndedMs = performance.now();
  readonly source: MetricsSource;

  constructor(name: string, drain: DrainLike) {
    this.#name = name;
    this.#drain = drain;
    this.source = { metrics: DRAIN_METRICS, collect: async () => this.#samples() };
    for (const each of [this.#rows, this.#events, this.#errors]) each.of({ name });
    drain.on("shard", ({ rows, events }) => {
      this.#rows.add({ name }, rows);
      this.#events.add({ name }, Number(events));
    });
    drain.on("lag", ({ longestMs }) => {
      this.#reportedMs = longestMs;
    });
    drain.on("cycle", ({ diverged }) => {
      this.#cycleEndedMs = performance.now();
      this.#lagMs = this.#reportedMs;
      this.#lagSinceMs = this.#lagMs > 0 ? this.#cycleEndedMs : undefined;
      this.#reportedMs = 0;
      this.#diverged = diverged;
    });
    drain.on("error", ({ shards }) => {
      this.#errors.add({ name });
      if (shards.length === 0) this.#lagSinceMs ??= this.#cycleEndedMs;
    });
  }

  #samples() {
    const gauge = (value: number) => [{ value, labels: { name: this.#name } }];
    const { isDraining } = this.#drain;
    // Shards that waited at the end of the last cycle have waited since.
    const sinceMs = this.#lagSinceMs === undefined ? 0 : performance.now() - this.#lagSinceMs;
    return [
      this.#rows.samples(),
      this.#events.samples(),
      this.#errors.samples(),
      gauge(isDraining ? 1 : 0),
      isDraining ? gauge((this.#lagMs + sinceMs) / 1000) : [],
      isDraining ? gauge(this.#diverged) : [],
    ];
  }
}
