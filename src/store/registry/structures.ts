import { sharedByCopies } from "../../base/copies.ts";

/** The structures of one store that are in use in this process. */
interface Known {
  refs: WeakRef<object>[];
  /** Above this number the references to structures that are gone are dropped. */
  pruneAbove: number;
  readonly listeners: Set<(structure: object) => void>;
}

/** The method of a structure through which exporters learn what it does. It is no part of the public API. */
export const tap: unique symbol = Symbol.for("oriel.tap") as never;

const MIN_PRUNE = 64;
const byStore = sharedByCopies("structures", () => new WeakMap<object, Known>());

function knownOf(store: object): Known {
  let known = byStore.get(store);
  if (!known) {
    known = { refs: [], pruneAbove: MIN_PRUNE, listeners: new Set() };
    byStore.set(store, known);
  }
  return known;
}

/**
 * Lists a structure under its store, for exporters. Each structure's constructor calls it last. The reference is weak: the
 * list keeps nothing alive. A runtime without weak references has an empty list.
 */
export function registerStructure(store: object, structure: object): void {
  if (typeof WeakRef === "undefined") return;
  const known = knownOf(store);
  known.refs.push(new WeakRef(structure));
  if (known.refs.length > known.pruneAbove) {
    known.refs = known.refs.filter((ref) => ref.deref() !== undefined);
    known.pruneAbove = Math.max(MIN_PRUNE, 2 * known.refs.length);
  }
  for (const listener of known.listeners) listener(structure);
}

/** The structures on this store that are still in use in this process, in the order in which they were made. */
export function structuresOf(store: object): object[] {
  return (byStore.get(store)?.refs ?? []).flatMap((ref) => ref.deref() ?? []);
}

/** Calls `listener` with each structure that is made on this store from now on. Returns a function that ends this. */
export function onStructure(store: object, listener: (structure: object) => void): () => void {
  const { listeners } = knownOf(store);
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
