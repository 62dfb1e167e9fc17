import type { Store } from "../../store/contract.ts";
import { storeInMemory } from "../../store/memory/memory.ts";
import type { Decision } from "../decision.ts";
import type { Policy } from "../policies.ts";
import { localPermit } from "../token.ts";
import { RETRY_AFTER_MS } from "./store-failure.ts";

const MAX_BYTES = 64 * 2 ** 20;

const locals = new WeakMap<Store, Store>();

/**
 * Returns the memory store in which this process counts while a store fails. All limiters of a store share it. When it is
 * full, the least recently used ids are evicted, so that no client is denied because of others.
 */
export function localStoreOf(store: Store): Store {
  let local = locals.get(store);
  if (!local) {
    local = storeInMemory({ monotonic: store.monotonic, maxBytes: MAX_BYTES }, true);
    locals.set(store, local);
  }
  return local;
}

/** A policy with one process's share of the permits, at least one. */
export function processShareOf(policy: Policy, share: number): Policy {
  if (share === 1 || policy.limit === 0) return policy;
  const part = (permits: number) => Math.max(1, Math.floor(permits * share));
  return { ...policy, limit: part(policy.limit), rate: part(policy.rate) };
}

/**
 * Marks a decision and its permit as local, so that the permit is released in this process. A cost above the process's share
 * gets a finite `retryAfterMs`, because the store may allow it.
 */
export function asLocalDecision(decision: Decision): Decision {
  const policies = decision.policies.map(retriable);
  const local: Decision = { ...retriable(decision), policies, degraded: true, degradedBy: "local" };
  if (local.permit !== undefined) local.permit = localPermit(local.permit);
  return local;
}

function retriable<One extends { retryAfterMs: number }>(one: One): One {
  return one.retryAfterMs === Infinity ? { ...one, retryAfterMs: RETRY_AFTER_MS } : one;
}
