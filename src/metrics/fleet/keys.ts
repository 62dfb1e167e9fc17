import type { Store } from "../../store/contract.ts";

/** The key of a fleet's buckets. The suffix after the braces separates the keys of different structures. */
export function fleetKeyOf(store: Store, fleet: string): string {
  return `${store.keyOf(fleet)}:fleet`;
}

/** The series name of a metric's latencies in their store; "": of all metrics without numbers of their own. */
export function latenciesNameOf(fleet: string, metric: string): string {
  return `${escaped(fleet)}:${escaped(metric)}`;
}

const ofStores = new WeakMap<Store, Store>();

/**
 * The same store, with a key suffix that separates these series from other structures:
 * `<prefix>{fleet:metric}:latency`.
 */
export function latencyStoreOf(store: Store): Store {
  let own = ofStores.get(store);
  if (!own) {
    const keyOf = (name: string) => `${store.keyOf(name)}:latency`;
    own = Object.create(store, { keyOf: { value: keyOf } }) as Store;
    ofStores.set(store, own);
  }
  return own;
}

function escaped(text: string): string {
  return text.replace(/[%:]/g, (each) => (each === ":" ? "%3A" : "%25"));
}
