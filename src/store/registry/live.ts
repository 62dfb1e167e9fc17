import { endsWithRequest } from "../../base/async/of-request.ts";
import { sharedByCopies } from "../../base/copies.ts";
import type { Store } from "../contract.ts";

/** The kinds of structures that a store can hold. */
export const STRUCTURE_KINDS = [
  ...([
    "Series",
    "SeriesGroup",
    "LockedWindow",
    "Limiter",
    "Lock",
    "ReadWriteLock",
    "Semaphore",
    "MultiSemaphore",
  ] as const),
  ...(["Counters", "DrainService", "DelayQueue", "Breaker", "FleetMetrics"] as const),
] as const;
export type StructureKind = (typeof STRUCTURE_KINDS)[number];

/** Whether it is one of those of which programs make many, such as one for each user. They have no metrics. */
export const isLock = (kind: StructureKind): boolean => /(Lock|Semaphore)$/.test(kind);

/** Settings as JSON values. `undefined` is left out. */
export type Settings = Readonly<Record<string, unknown>>;

/** A structure that this process uses on a store. Instances with one kind and name share an entry. */
export interface LiveStructure {
  readonly kind: StructureKind;
  readonly name: string;
  /** Settings that all processes must share. */
  readonly shared: Settings;
  readonly settings: Settings;
}

/** The method of a structure through which exporters and histories learn what it does. It is no part of the public API. */
export const tap: unique symbol = Symbol.for("oriel.tap") as never;

interface Entry extends LiveStructure {
  shared: Settings;
  settings: Settings;
  /** Of all instances that may be in use. Undefined in runtimes without WeakRef: then the entry counts as in use. */
  instances: WeakRef<object>[] | undefined;
  /** Number of references at which unused ones are removed. */
  sweepAt: number;
}

/** The structures of a store in this process. The list keeps none in memory. */
export interface Live {
  readonly locks: Map<string, Entry>;
  /** The other kinds, and the workers of queues, which are not announced. */
  readonly others: Map<string, Entry>;
}

/** Locks, and others. Above this number those that are not in use are removed, and then those that were made first. */
const MAX_ENTRIES = 5000;
const KEPT = 4500;
const SWEEP_AT = 8;

// All copies of the package share these, so their forms are the same in all versions.
const byStore = sharedByCopies("live", () => new WeakMap<Store, Live>());
/** The store of each structure that is no lock. */
const stores = sharedByCopies("stores", () => new WeakMap<object, Store>());
const listeners = sharedByCopies("listeners", () => new WeakMap<Store, Set<(structure: object) => void>>());
/** In Workers a store may live for one request. Stores with one address and prefix then share a list. */
const byAddress = new Map<string, Live>();
const MAX_ADDRESSES = 100;

/** The list of a store. */
export function liveOf(store: Store): Live {
  let live = byStore.get(store);
  if (live) return live;
  const address =
    endsWithRequest && store.address !== undefined ? `${store.address} ${store.keyOf("registry")}` : undefined;
  live = (address !== undefined && byAddress.get(address)) || { locks: new Map(), others: new Map() };
  byStore.set(store, live);
  if (address !== undefined && byAddress.size < MAX_ADDRESSES) byAddress.set(address, live);
  return live;
}

/** Adds a structure to the list of its store, at the end of its constructor. Listeners learn of all kinds but locks. */
export function addLive(
  store: Store,
  kind: StructureKind | "QueueWorker",
  name: string,
  instance: object,
  shared: Settings = {},
  settings: Settings = {},
): LiveStructure {
  const live = liveOf(store);
  const isOfLock = isLock(kind as StructureKind);
  const entries = isOfLock ? live.locks : live.others;
  const key = `${kind} ${name}`;
  let entry = entries.get(key);
  if (!entry) {
    const instances = typeof WeakRef === "function" ? [] : undefined;
    entry = { kind: kind as StructureKind, name, shared, settings, instances, sweepAt: SWEEP_AT };
    entries.set(key, entry);
  }
  entry.shared = shared;
  entry.settings = settings;
  const { instances } = entry;
  if (instances) {
    if (instances.length >= entry.sweepAt) {
      entry.instances = instances.filter((each) => each.deref());
      entry.sweepAt = Math.max(SWEEP_AT, 2 * entry.instances.length);
    }
    entry.instances!.push(new WeakRef(instance));
  }
  if (entries.size > MAX_ENTRIES) {
    inUse(entries);
    for (const key of [...entries.keys()].slice(0, -KEPT)) entries.delete(key);
  }
  if (!isOfLock) {
    stores.set(instance, store);
    for (const listener of listeners.get(store) ?? []) listener(instance);
  }
  return entry;
}

/** The structures in use. Those that are not are removed. */
export function inUse(entries: Map<string, Entry>): Entry[] {
  for (const [key, { instances }] of entries)
    if (instances && !instances.some((each) => each.deref())) entries.delete(key);
  return [...entries.values()];
}

/** The instances on this store that are in use in this process, without locks. None in a runtime without WeakRef. */
export function structuresOf(store: Store): object[] {
  const instances = [...liveOf(store).others.values()].flatMap((entry) => entry.instances ?? []);
  return instances.flatMap((each) => each.deref() ?? []).filter((each) => stores.get(each) === store);
}

/** Calls `listener` with each structure but locks that is made on this store from now on. Returns a function that ends this. */
export function onStructure(store: Store, listener: (structure: object) => void): () => void {
  const ofStore = listeners.get(store) ?? new Set();
  listeners.set(store, ofStore.add(listener));
  return () => void ofStore.delete(listener);
}
