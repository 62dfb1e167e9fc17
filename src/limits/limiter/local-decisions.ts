import { argumentError, checkKnown } from "../../base/errors.ts";
import { atSite } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { bringLocalForms, storeInMemory } from "../../store/memory/memory.ts";
import { RETRY_AFTER_MS } from "./client/store-failure.ts";
import type { Decision } from "./decision.ts";
import type { Policy } from "./policies.ts";
import { decisionForms } from "./steps/decide-locally.ts";
import { localPermit } from "./token.ts";

const MAX_BYTES = 64 * 2 ** 20;

const stores = new WeakMap<Store, Store>();

/** Options of `localDecisions`. */
export interface LocalDecisionsOptions {
  /** Share of each limit that this process admits: above 0, at most 1 (default). At least one permit. */
  share?: number | undefined;
}

/** How a limiter decides in this process. Made by `localDecisions`. */
export interface LocalDecisions {
  readonly share: number;
  /** @internal The memory store in which this process counts while `store` fails. */
  storeFor(store: Store): Store;
  /** @internal The policies with this process's share of the permits. */
  sharesOf(policies: readonly Policy[]): Policy[];
  /** @internal Marks a decision and its permit as local. */
  marked(decision: Decision): Decision;
}

/**
 * For `onStoreError` of a limiter: while the store is unreachable, this process decides alone, by the calls that it has let pass
 * since, up to its share of each limit. It knows no blocks. The limiters of one store count together, in at most 64 MiB.
 */
export function localDecisions(options: LocalDecisionsOptions = {}): LocalDecisions {
  return atSite("localDecisions", () => {
    checkKnown(options, ["share"]);
    const { share = 1 } = options;
    if (typeof share !== "number" || !(share > 0 && share <= 1))
      throw argumentError("share", share, "a number above 0, at most 1");
    bringLocalForms(decisionForms);
    return Object.freeze({
      share,
      storeFor,
      sharesOf: (policies: readonly Policy[]) => policies.map((one) => shareOf(one, share)),
      marked,
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

/** A policy with one process's share of the permits, at least one. */
function shareOf(policy: Policy, share: number): Policy {
  if (share === 1 || policy.limit === 0) return policy;
  const part = (permits: number) => Math.max(1, Math.floor(permits * share));
  // Windows and lent permits have no rate.
  return { ...policy, limit: part(policy.limit), rate: policy.rate && part(policy.rate) };
}

/** The permit is released in this process. A cost above the share gets a finite `retryAfterMs`, because the store may allow it. */
function marked(decision: Decision): Decision {
  const policies = decision.policies.map(retriable);
  const local: Decision = { ...retriable(decision), policies, degraded: true, degradedBy: "local" };
  if (local.permit !== undefined) local.permit = localPermit(local.permit);
  return local;
}

function retriable<One extends { retryAfterMs: number }>(one: One): One {
  return one.retryAfterMs === Number.POSITIVE_INFINITY ? { ...one, retryAfterMs: RETRY_AFTER_MS } : one;
}
