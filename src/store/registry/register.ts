import { noteKind, sharedByEqualCopies } from "../../base/copies.ts";
import type { Store } from "../contract.ts";
import { Announcer } from "./announcer.ts";
import { addLive, type Live, liveOf, type Settings, type StructureKind } from "./live.ts";

const announcers = sharedByEqualCopies("announcers", () => new WeakMap<Live, Announcer>());

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
  const live = liveOf(store);
  let announcer = announcers.get(live);
  if (!announcer) {
    announcer = new Announcer(live);
    announcers.set(live, announcer);
  }
  announcer.added(addLive(store, kind, name, instance, shared, own), store);
}
