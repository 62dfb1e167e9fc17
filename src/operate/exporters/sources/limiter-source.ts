import { argumentError } from "../../../base/errors.ts";
import { atSite } from "../../../base/site.ts";
import { tap } from "../../../store/registry/live.ts";
import { counter, type MetricsSource, Names, type Sample, Totals } from "../metric.ts";

/** The part of a limiter's decision that its source counts. */
export interface DecisionLike {
  allowed: boolean;
  degraded: boolean;
  policy: string;
  policies: readonly { name: string; allowed: boolean; shadow: boolean }[];
}

/** The members of `Limiter` that this source uses. */
export interface LimiterLike {
  readonly name: string;
  take(id: string): Promise<DecisionLike>;
  /** Calls `decided` with each decision that this limiter takes part in. */
  readonly [tap]: (listener: {
    decided(decision: DecisionLike, hasDecided: boolean): void;
    reserved(isAllowed: boolean): void;
    failed(): void;
  }) => void;
}

/**
 * Counts the decisions of this limiter from now on, by the deciding policy: those of `take`, `acquire` and `takeAll`, also by
 * middleware, and also those that this process made alone. A limiter without a source has no extra cost. Throws ARGUMENT.
 */
export function limiterSource(limiter: LimiterLike): MetricsSource {
  return atSite("limiterSource", () => {
    if (!isLimiter(limiter)) throw argumentError("limiter", limiter, "a Limiter");
    const counts = new LimiterCounts();
    counts.attach(limiter);
    return counts.source;
  });
}

export function isLimiter(limiter: Partial<LimiterLike> | null | undefined): limiter is LimiterLike {
  return typeof limiter?.take === "function" && typeof limiter[tap] === "function";
}

export const LIMITER_METRICS = [
  counter(
    "limiter_decisions",
    "limiter.decisions",
    "{decision}",
    "Decisions of this process, by deciding policy and outcome.",
  ),
  counter(
    "limiter_shadow_denials",
    "limiter.shadow_denials",
    "{decision}",
    "Decisions of this process that a shadow policy would have denied.",
  ),
  counter("limiter_reservations", "limiter.reservations", "{call}", "Reservations that this process asked for."),
  counter(
    "limiter_degraded",
    "limiter.degraded",
    "{decision}",
    "Decisions of onStoreError while the store was unreachable.",
  ),
  counter("limiter_errors", "limiter.errors", "{call}", "Calls that rejected."),
];

/** The counts of limiters, which it does not keep alive. */
export class LimiterCounts {
  readonly #names: Names;
  readonly #decisions = new Totals();
  readonly #shadow = new Totals();
  readonly #reservations = new Totals();
  readonly #degraded = new Totals();
  readonly #errors = new Totals();
  readonly source: MetricsSource = {
    metrics: LIMITER_METRICS,
    collect: async () =>
      [this.#decisions, this.#shadow, this.#reservations, this.#degraded, this.#errors].map((each) => each.samples()),
  };

  constructor(names = new Names()) {
    this.#names = names;
  }

  attach(limiter: LimiterLike): void {
    const name = this.#names.labelOf(limiter.name);
    const count = this.#counterOf(name);
    for (const each of [this.#degraded, this.#errors]) each.of({ name });
    limiter[tap]({
      decided: (decision, hasDecided) => {
        if (hasDecided) count(decision);
        else this.#countShadows(name, decision.policies);
      },
      reserved: (isAllowed) => this.#reservations.add({ name, outcome: isAllowed ? "allowed" : "denied" }),
      failed: () => this.#errors.add({ name }),
    });
  }

  /** Returns a function that counts a decision. It looks up the labels of each policy once. */
  #counterOf(name: string): (decision: DecisionLike) => void {
    const byPolicy = new Map<string, { allowed: Sample; denied: Sample }>();
    return ({ allowed, degraded, policy, policies }) => {
      let both = byPolicy.get(policy);
      if (!both) {
        const of = (outcome: string) => this.#decisions.of({ name, policy, outcome });
        both = { allowed: of("allowed"), denied: of("denied") };
        byPolicy.set(policy, both);
      }
      (allowed ? both.allowed : both.denied).value++;
      if (degraded) this.#degraded.add({ name });
      this.#countShadows(name, policies);
    };
  }

  #countShadows(name: string, policies: DecisionLike["policies"]): void {
    for (const each of policies) if (each.shadow && !each.allowed) this.#shadow.add({ name, policy: each.name });
  }
}
