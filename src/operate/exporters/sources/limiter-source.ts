import { argumentError } from "../../../base/errors.ts";
import { placed } from "../../../base/place.ts";
import { tap } from "../../../store/registry/structures.ts";
import { counter, type MetricsSource, type Sample, Totals } from "../metric.ts";
import { Names } from "../names.ts";

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
  // biome-ignore lint/suspicious/noExplicitAny: it passes on the arguments of the limiter.
  take(...args: any[]): Promise<DecisionLike>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  acquire(...args: any[]): Promise<DecisionLike>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  reserve(...args: any[]): Promise<object | null>;
  /** Called with each decision of `takeAll` that this limiter takes part in. */
  [tap]?(decision: DecisionLike, hasDecided: boolean, id: string): void;
}

/**
 * Counts the decisions of this limiter from now on, by the deciding policy: those of `take`, `acquire` and `takeAll`, also by
 * middleware, and also those that this process made alone. A limiter without a source has no extra cost. Throws ARGUMENT.
 */
export function limiterSource(limiter: LimiterLike): MetricsSource {
  return placed("limiterSource", () => {
    if (!isLimiter(limiter)) throw argumentError("limiter", limiter, "a Limiter");
    const counts = new LimiterCounts();
    counts.attach(limiter);
    return counts.source;
  });
}

export function isLimiter(limiter: Partial<LimiterLike> | null | undefined): limiter is LimiterLike {
  return typeof limiter?.take === "function" && typeof limiter.acquire === "function";
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
    const fail = () => this.#errors.add({ name });
    for (const method of ["take", "acquire"] as const) {
      const decide = limiter[method].bind(limiter);
      limiter[method] = (...args) => {
        const deciding = decide(...args);
        deciding.then(count, fail);
        return deciding;
      };
    }
    const reserve = limiter.reserve.bind(limiter);
    limiter.reserve = (...args) => {
      const reserving = reserve(...args);
      reserving.then((reserved) => this.#reservations.add({ name, outcome: reserved ? "allowed" : "denied" }), fail);
      return reserving;
    };
    const before = limiter[tap];
    limiter[tap] = (decision, hasDecided, id) => {
      before?.(decision, hasDecided, id);
      if (hasDecided) count(decision);
      else this.#countShadows(name, decision.policies);
    };
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
