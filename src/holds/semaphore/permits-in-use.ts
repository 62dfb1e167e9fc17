import { siteOf } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { look } from "../steps/steps.ts";

const MAX_LISTED_PERMITS = 1000;

/** The permits that are in use at one moment. */
export interface PermitsInUse {
  /** Number of permits in use. */
  count: number;
  /** The holds that end first, with up to 1000 permits together. A hold may have several permits. */
  holds: readonly { permits: number; leftMs: number }[];
}

/** The key of the state of a `Semaphore` or `MultiSemaphore`. */
export function semaphoreKeyOf(store: Store, name: string): string {
  return `${store.keyOf(name)}:semaphore`;
}

/** Reads the permits of a `Semaphore` or `MultiSemaphore` that are in use. */
export function permitsInUse(store: Store, name: string): Promise<PermitsInUse> {
  const read = async () => {
    const state = await store.run(look, semaphoreKeyOf(store, name), undefined);
    const held = state.holds
      .filter(({ endMs }) => endMs >= state.nowMs)
      .map(({ permits, endMs }) => ({ permits, leftMs: endMs - state.nowMs }));
    return { count: held.reduce((sum, { permits }) => sum + permits, 0), holds: first(held) };
  };
  return siteOf("Semaphore", store, name).run("permits", read, "no");
}

/** The holds that end first. */
function first(all: PermitsInUse["holds"]): PermitsInUse["holds"] {
  let listed = 0;
  return [...all]
    .sort((a, b) => a.leftMs - b.leftMs)
    .map(({ permits, leftMs }) => {
      const shown = Math.min(permits, MAX_LISTED_PERMITS - listed);
      listed += shown;
      return { permits: shown, leftMs };
    })
    .filter(({ permits }) => permits > 0);
}
