import { endsWithRequest } from "../../base/async/of-request.ts";
import { noteKind, sharedByEqualCopies } from "../../base/copies.ts";
import type { Store } from "../contract.ts";
import { Announcer } from "./announcer.ts";
import { isLock, LiveStructures, type Settings, type StructureKind } from "./live.ts";
import { registerStructure } from "./structures.ts";

const announcers = sharedByEqualCopies("announcers", () => new WeakMap<Store, Announcer>());
/** In Workers a store may live for one request. Stores with one address and prefix then share an announcer. */
const byAddress = new Map<string, Announcer>();
const MAX_ADDRESSES = 100;

/**
 * Adds a structure to the structures on its store, at the end of its constructor. From then on it announces itself,
 * unless the store has `registry: false`. `shared` are the settings that all processes must share. Both are kept, so they
 * must not reference the instance.
 */
export function register(
  store: Store,
  kind: StructureKind,
  name: string,
  instance: object,
  shared: Settings = {},
  own: Settings = {},
): void {
  noteKind(instance, kind);
  // A program may make locks without end, and they have no metrics.
  if (!isLock(kind)) registerStructure(store, instance);
  const announcer = announcerOf(store);
  announcer.added(announcer.structures.add(kind, name, instance, shared, own), store.monotonic());
}

/** The structures that this process has made on a store. */
export function liveStructures(store: Store): LiveStructures {
  return announcerOf(store).structures;
}

function announcerOf(store: Store): Announcer {
  let announcer = announcers.get(store);
  if (announcer) return announcer;
  const address =
    endsWithRequest && store.address !== undefined ? `${store.address} ${store.keyOf("registry")}` : undefined;
  announcer = (address !== undefined && byAddress.get(address)) || new Announcer(new LiveStructures());
  announcers.set(store, announcer);
  if (address !== undefined && byAddress.size < MAX_ADDRESSES) byAddress.set(address, announcer);
  const riding = announcer;
  store.onTurn?.(() => riding.ride(store));
  return announcer;
}
