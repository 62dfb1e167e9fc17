import type { Store } from "../store/contract.ts";

/** Of the buckets of a fleet. What follows the braces tells keys of one structure from those of all others. */
export function fleetKeyOf(store: Store, fleet: string): string {
  return `${store.keyOf(fleet)}:fleet`;
}

/** The name of a metric's latencies within their store; "": of all metrics without numbers of their own. */
export function latenciesNameOf(fleet: string, metric: string): string {
  return `${escaped(fleet)}:${escaped(metric)}`;
}

const ofStores = new WeakMap<Store, Store>();

/** The same store, with the keys of its series apart from those of any other structure: `<prefix>{fleet:metric}:latency`. */
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
