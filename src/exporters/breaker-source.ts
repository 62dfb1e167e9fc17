import { argumentError } from "../errors.ts";
import { placed } from "../place.ts";
import { type MetricInfo, type MetricsSource, nameLabel, Totals } from "./metric.ts";

const STATES = ["closed", "open", "half-open"] as const;
const EVENTS = { open: "open", halfOpen: "half-open", close: "closed" } as const;

/** The members of `Breaker` that this source uses. */
export interface BreakerLike {
  readonly name: string;
  stats(): { state: (typeof STATES)[number]; calls: number; failures: number; slow: number };
  on(event: keyof typeof EVENTS | "reject", listener: () => void): () => void;
}

/**
 * Metrics of a circuit: its state as this process knows it, and counts of its events since this call. Throws ARGUMENT.
 */
export function breakerSource(breaker: BreakerLike): MetricsSource {
  return placed("breakerSource", () => {
    if (typeof breaker?.stats !== "function") throw argumentError("breaker", breaker, "a Breaker");
    const name = nameLabel(breaker.name);
    const [transitions, rejected] = [new Totals(), new Totals()];
    for (const [event, to] of Object.entries(EVENTS))
      breaker.on(event as keyof typeof EVENTS, () => transitions.add({ name, to }));
    breaker.on("reject", () => rejected.add({ name }));
    return {
      metrics: METRICS,
      async collect() {
        const { state: now, calls, failures, slow } = breaker.stats();
        const window = Object.entries({ all: calls, failed: failures, slow });
        return [
          STATES.map((state) => ({ value: state === now ? 1 : 0, labels: { name, state } })),
          window.map(([outcome, value]) => ({ value, labels: { name, outcome } })),
          transitions.samples(),
          rejected.samples(),
        ];
      },
    };
  });
}

const METRICS: readonly MetricInfo[] = [
  {
    prometheus: "breaker_state",
    otel: "breaker.state",
    type: "gauge",
    unit: "1",
    help: "1 for the state of the circuit, as this process knows it: aggregate with max by (name, state).",
    isShared: true,
  },
  {
    prometheus: "breaker_window_calls",
    otel: "breaker.window.calls",
    type: "gauge",
    unit: "{call}",
    help: "Calls in the window. If the circuit is not closed, in the window that opened it: aggregate with max by (name, outcome).",
    isShared: true,
  },
  {
    prometheus: "breaker_transitions_total",
    otel: "breaker.transitions",
    type: "counter",
    unit: "{transition}",
    help: "Changes of state that this process has seen.",
    isShared: false,
  },
  {
    prometheus: "breaker_rejected_calls_total",
    otel: "breaker.rejected_calls",
    type: "counter",
    unit: "{call}",
    help: "Calls that this process has rejected because the circuit was open.",
    isShared: false,
  },
];
