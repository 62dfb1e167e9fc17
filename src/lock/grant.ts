import { idleTimeout } from "../async/timers.ts";
import type { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { release } from "./release.ts";

/** What an acquire gave: a hold, and until when it can be proven by this process's clock. */
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

const GIVE_BACK_AGAIN_MS = 200;

/** Gives a hold back that nobody will use, while the server may be reached again before the lease ends it. */
export function giveBack(hold: Pick<Grant, "store" | "key" | "token" | "provenUntilMs">): void {
  const { store, key, token, provenUntilMs } = hold;
  store.run(release, key, { token, id: "", isNext: false }).catch((error: unknown) => {
    if (!(error as OrielError).transient || store.leaseClock() > provenUntilMs) return;
    idleTimeout(() => giveBack(hold), GIVE_BACK_AGAIN_MS);
  });
}
