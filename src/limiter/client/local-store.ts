import type { Store } from "../../store/contract.ts";
import { storeInMemory } from "../../store/memory/memory.ts";
import type { Decision } from "../decision.ts";
import type { Policy } from "../policies.ts";
import { localPermit } from "../token.ts";
import { RETRY_AFTER_MS } from "./store-failure.ts";

const MAX_BYTES = 64 * 2 ** 20;

const locals = new WeakMap<Store, Store>();

/**
 * Where this process counts while a store fails; one for each store, as its limiters are asked together. When it is full,
 * the ids that were not asked for the longest time are forgotten, so that no client is refused because of others.
 */
export function localStoreOf(store: Store): Store {
  let local = locals.get(store);
  if (!local) {
    local = storeInMemory({ monotonic: store.monotonic, maxBytes: MAX_BYTES }, true);
    locals.set(store, local);
  }
  return local;
}

/** A policy with one process's share of its permits, at least one. */
export function processShareOf(policy: Policy, share: number): Policy {
  if (share === 1 || policy.limit === 0) return policy;
  const part = (permits: number) => Math.max(1, Math.floor(permits * share));
  return { ...policy, limit: part(policy.limit), rate: part(policy.rate) };
}

/**
 * Tells that this process alone has decided, in the permit too: it is given back here. What is too much for its share is
 * not for ever.
 */
export function asLocalDecision(decision: Decision): Decision {
  const policies = decision.policies.map(retriable);
  const told: Decision = { ...retriable(decision), policies, degraded: true, degradedBy: "local" };
  if (told.permit !== undefined) told.permit = localPermit(told.permit);
  return told;
}

function retriable<Told extends { retryAfterMs: number }>(told: Told): Told {
  return told.retryAfterMs === Infinity ? { ...told, retryAfterMs: RETRY_AFTER_MS } : told;
}
