import { argumentError } from "../../../base/errors.ts";
import { atSite } from "../../../base/site.ts";
import { together } from "../collect.ts";
import { counter, type MetricInfo, type MetricsSource, Names, Totals } from "../metric.ts";

const STATES = ["closed", "open", "half-open"] as const;
const EVENTS = { open: "open", halfOpen: "half-open", close: "closed" } as const;

/** The members of `Breaker` that this source uses. */
export interface BreakerLike {
  readonly name: string;
  stats(): {
    state: (typeof STATES)[number];
    calls: number;
    failures: number;
    slow: number;
    processes: number;
    failing: number;
  };
  on(event: keyof typeof EVENTS | "reject", listener: () => void): () => void;
}

/**
 * Metrics of a circuit: its state as this process knows it, its window, and counts of its events since this call. Throws
 * ARGUMENT.
 */
export function breakerSource(breaker: BreakerLike): MetricsSource {
  return atSite("breakerSource", () => {
    if (!isBreaker(breaker)) throw argumentError("breaker", breaker, "a Breaker");
    const names = new Names();
    const counts = new BreakerCounts(names);
    counts.attach(breaker);
    const parts = [breakerState(breaker, names), counts.source, breakerWindow(breaker, names)];
    return together(BREAKER_METRICS, () => parts);
  });
}

export function isBreaker(breaker: Partial<BreakerLike> | null | undefined): breaker is BreakerLike {
  return typeof breaker?.stats === "function" && typeof breaker.on === "function";
}

const STATE: MetricInfo = {
  prometheus: "breaker_state",
  otel: "breaker.state",
  type: "gauge",
  unit: "1",
  help: "1 for the state of the circuit as this process knows it, else 0. A sum is the number of processes.",
  isShared: false,
};
const WINDOW: MetricInfo = {
  prometheus: "fleet_breaker_window_calls",
  otel: "fleet.breaker.window.calls",
  type: "gauge",
  unit: "{call}",
  help: "Calls of all processes in the window. If the circuit is not closed, in the window that opened it.",
  isShared: true,
};
const PROCESSES: MetricInfo = {
  prometheus: "fleet_breaker_processes",
  otel: "fleet.breaker.processes",
  type: "gauge",
  unit: "{process}",
  help: "Processes that called within the span, and those of them that see failures.",
  isShared: true,
};
const COUNTS = [
  counter(
    "breaker_transitions",
    "breaker.transitions",
    "{transition}",
    "Changes of state that this process has seen, by new state.",
  ),
  counter(
    "breaker_rejected_calls",
    "breaker.rejected_calls",
    "{call}",
    "Calls that this process has rejected because the circuit was open.",
  ),
];
export const BREAKER_METRICS: readonly MetricInfo[] = [STATE, ...COUNTS, WINDOW, PROCESSES];

export function breakerState(breaker: BreakerLike, names: Names): MetricsSource {
  return {
    metrics: [STATE],
    async collect() {
      const name = names.labelOf(breaker.name);
      const { state: now } = breaker.stats();
      return [STATES.map((state) => ({ value: state === now ? 1 : 0, labels: { name, state } }))];
    },
  };
}

export function breakerWindow(breaker: BreakerLike, names: Names): MetricsSource {
  return {
    metrics: [WINDOW, PROCESSES],
    async collect() {
      const name = names.labelOf(breaker.name);
      const { calls, failures, slow, processes, failing } = breaker.stats();
      const samples = (counts: Record<string, number>) =>
        Object.entries(counts).map(([outcome, value]) => ({ value, labels: { name, outcome } }));
      return [samples({ all: calls, failed: failures, slow }), samples({ all: processes, failing })];
    },
  };
}

/** The counts of breakers, which it does not keep alive. */
export class BreakerCounts {
  readonly #names: Names;
  readonly #transitions = new Totals();
  readonly #rejected = new Totals();
  readonly source: MetricsSource = {
    metrics: COUNTS,
    collect: async () => [this.#transitions.samples(), this.#rejected.samples()],
  };

  constructor(names: Names) {
    this.#names = names;
  }

  attach(breaker: BreakerLike): void {
    const name = this.#names.labelOf(breaker.name);
    for (const [event, to] of Object.entries(EVENTS)) {
      const transitions = this.#transitions.of({ name, to });
      breaker.on(event as keyof typeof EVENTS, () => transitions.value++);
    }
    const rejected = this.#rejected.of({ name });
    breaker.on("reject", () => rejected.value++);
  }
}
