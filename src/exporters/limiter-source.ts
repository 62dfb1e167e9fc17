import { argumentError } from "../errors.ts";
import { placed } from "../place.ts";
import { type MetricsSource, nameLabel, Totals } from "./metric.ts";

export interface DecisionLike {
  allowed: boolean;
  degraded: boolean;
  policy: string;
}

/** The members of `Limiter` that this source uses. */
export interface LimiterLike {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: it passes on the arguments of the limiter.
  take(...args: any[]): Promise<DecisionLike>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  acquire(...args: any[]): Promise<DecisionLike>;
}

/**
 * Counts the decisions of this limiter's `take` and `acquire` from now on, by the deciding policy. Calls by middleware
 * count too. A limiter without a source has no extra cost. Throws ARGUMENT.
 */
export function limiterSource(limiter: LimiterLike): MetricsSource {
  return placed("limiterSource", () => {
    if (typeof limiter?.take !== "function" || typeof limiter.acquire !== "function")
      throw argumentError("limiter", limiter, "a Limiter");
    const name = nameLabel(limiter.name);
    const [decisions, degraded, errors] = [new Totals(), new Totals(), new Totals()];
    for (const method of ["take", "acquire"] as const) {
      const decide = limiter[method].bind(limiter);
      limiter[method] = async (...args) => {
        try {
          const decision = await decide(...args);
          decisions.add({ name, policy: decision.policy, outcome: decision.allowed ? "allowed" : "denied" });
          if (decision.degraded) degraded.add({ name });
          return decision;
        } catch (error) {
          errors.add({ name });
          throw error;
        }
      };
    }
    const counter = (what: string, otel: string, unit: string, help: string) =>
      ({ prometheus: `limiter_${what}_total`, otel, type: "counter", unit, help, isShared: false }) as const;
    return {
      metrics: [
        counter("decisions", "limiter.decisions", "{decision}", "Decisions of this process, by policy and outcome."),
        counter(
          "degraded",
          "limiter.degraded",
          "{decision}",
          "Decisions of onStoreError while the store was unreachable.",
        ),
        counter("errors", "limiter.errors", "{call}", "Calls that rejected."),
      ],
      collect: async () => [decisions.samples(), degraded.samples(), errors.samples()],
    };
  });
}
