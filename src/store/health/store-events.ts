import { Listeners } from "../../base/async/listeners.ts";
import { Site } from "../../base/site.ts";
import type { StoreEvents } from "../contract.ts";

const STORE_EVENTS: Record<keyof StoreEvents, true> = { down: true, up: true, error: true };

/** The listeners of a store that the function `made` makes. */
export function storeListeners(made: string): Listeners<StoreEvents> {
  return new Listeners<StoreEvents>(new Site(made), STORE_EVENTS, (error) => ({ error, count: 0 }));
}
