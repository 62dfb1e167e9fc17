import type { Store } from "../store/contract.ts";
import { release } from "./release.ts";

/** What an acquire gave: a hold, and until when it can be proven by this process's monotonic clock. */
export interface Grant {
  readonly store: Store;
  readonly key: string;
  readonly token: string;
  readonly fence: number;
  readonly leaseMs: number;
  readonly provenUntilMs: number;
}

/** What two monotonic clocks may drift apart by, and what is lost by rounding to whole ms. */
const DRIFT = 0.01;
const ROUNDING_MS = 2;

/** A lease runs from some instant after the request was sent: counted from there it is never thought too long. */
export function provenUntil(sentAtMs: number, leaseMs: number): number {
  return sentAtMs + leaseMs * (1 - DRIFT) - ROUNDING_MS;
}

/** Gives a hold back that nobody will use; where that fails, it ends with its lease. */
export function giveBack({ store, key, token }: Pick<Grant, "store" | "key" | "token">): void {
  store.run(release, key, token).catch(() => {});
}
