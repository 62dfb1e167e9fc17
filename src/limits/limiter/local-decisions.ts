import { argumentError, checkKnown } from "../../base/errors.ts";
import { atSite } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { bringLocalForms, storeInMemory } from "../../store/memory/memory.ts";
import { type Callers, callersOf } from "./client/callers.ts";
import { RETRY_AFTER_MS } from "./client/store-failure.ts";
import type { Decision } from "./decision.ts";
import type { Policy } from "./policies.ts";
import { decisionForms } from "./steps/decide-locally.ts";
import { localPermit } from "./token.ts";

const MAX_BYTES = 64 * 2 ** 20;

const stores = new WeakMap<Store, Store>();

/** Options of `localDecisions`. */
export interface LocalDecisionsOptions {
  /**
   * A fixed share of each limit: above 0, at most 1. Default: one part for each process that used the limiter before the outage.
   * A process admits at least one permit.
   */
  share?: number | undefined;
}

/** How a limiter decides in this process. Made by `localDecisions`. */
export interface LocalDecisions {
  /** Undefined: the processes that use the limiter share its limits. */
  readonly share: number | undefined;
  /** @internal The memory store in which this process counts while `store` fails. */
  storeFor(store: Store): Store;
  /** @internal The share of a limiter's permits. */
  shareOf(store: Store, name: string): Share;
}

/**
 * For `onStoreError` of a limiter: while the store is unreachable, this process decides alone, by the calls that it has let pass
 * since, up to its share of each limit. The processes that called in the last 75 s share the limits: each has `limit` ÷ n, rounded
 * down, and at least one permit. A process that has never reached the store has the whole limit, unless `share` says less.
 * It knows no blocks. The limiters of one store count together, in at most 64 MiB. While the store answers, one call in 30 s
 * sends a step more.
 */
export function localDecisions(options: LocalDecisionsOptions = {}): LocalDecisions {
  return atSite("localDecisions", () => {
    checkKnown(options, ["share"]);
    const { share } = options;
    if (share !== undefined && (typeof share !== "number" || !(share > 0 && share <= 1)))
      throw argumentError("share", share, "a number above 0, at most 1");
    bringLocalForms(decisionForms);
    return Object.freeze({
      share,
      storeFor,
      shareOf: (store: Store, name: string) => new Share(share ?? callersOf(store, name)),
    });
  });
}

/** All limiters of a store share one. When it is full, the least recently used ids are evicted, so no client is denied because of others. */
function storeFor(store: Store): Store {
  let local = stores.get(store);
  if (!local) {
    local = storeInMemory({ monotonic: store.monotonic, maxBytes: MAX_BYTES }, true);
    stores.set(store, local);
  }
  return local;
}

/** The part of a limiter's permits that this process admits alone. */
export class Share {
  readonly #of: number | Callers;

  constructor(of: number | Callers) {
    this.#of = of;
  }

  /** Notes a call, so that this process has a share. */
  called(): void {
    if (typeof this.#of === "object") this.#of.note();
  }

  get #parts(): number {
    return typeof this.#of === "object" ? this.#of.count : 1 / this.#of;
  }

  /** The policies with the share of each limit, at least one permit. */
  of(policies: readonly Policy[]): readonly Policy[] {
    const parts = this.#parts;
    const part = (permits: number) => Math.max(1, Math.floor(permits / parts));
    if (parts === 1) return policies;
    return policies.map((one) =>
      // Windows and lent permits have no rate.
      one.limit === 0 ? one : { ...one, limit: part(one.limit), rate: one.rate && part(one.rate) },
    );
  }

  /**
   * Marks a decision and its permit as local. The permit is released in this process. A cost above the share gets a finite
   * `retryAfterMs`, because the store may allow it.
   */
  marked(decision: Decision): Decision {
    const policies = decision.policies.map(retriable);
    const share = 1 / this.#parts;
    const local: Decision = { ...retriable(decision), policies, degraded: true, degradedBy: "local", share };
    if (local.permit !== undefined) local.permit = localPermit(local.permit);
    return local;
  }
}

function retriable<One extends { retryAfterMs: number }>(one: One): One {
  return one.retryAfterMs === Number.POSITIVE_INFINITY ? { ...one, retryAfterMs: RETRY_AFTER_MS } : one;
}
