import { idleTimeout } from "../async/timers.ts";
import type { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import type { Clock } from "../time.ts";
import type { HoldSteps } from "./steps/hold-steps.ts";

/** An acquired hold, with the time until which this process's clock proves it. */
export interface Grant {
  readonly steps: HoldSteps;
  readonly store: Store;
  readonly key: string;
  readonly token: string;
  readonly fence: number;
  readonly leaseMs: number;
  readonly provenUntilMs: number;
}

/** The parts of a hold that differ between locks: its extension, its release, and the clock that proves it. */
export interface HoldSource<Fence extends number | null = number> {
  readonly fence: Fence;
  readonly leaseMs: number;
  /** When its first lease ends, by the lease clock. */
  readonly provenUntilMs: number;
  readonly leaseClock: Clock;
  /** Names the hold in messages. */
  readonly what: string;
  /** Resolves with false if the hold no longer exists. */
  extend(leaseMs: number): Promise<boolean>;
  /** Resolves with true if this call has ended the hold. */
  release(): Promise<boolean>;
}

/** Margins for the drift of two monotonic clocks and for rounding to whole ms. */
const DRIFT = 0.01;
const ROUNDING_MS = 2;

/** A lease begins after its request was sent. Counted from the sending it is never overestimated. */
export function provenUntil(sentAtMs: number, leaseMs: number): number {
  return sentAtMs + leaseMs * (1 - DRIFT) - ROUNDING_MS;
}

const RETRY_MS = 200;

/** Releases an unused hold. Retries while the store fails and the lease lasts. */
export function giveBack(hold: Pick<Grant, "steps" | "store" | "key" | "token" | "provenUntilMs">): void {
  const { steps, store, key, token, provenUntilMs } = hold;
  store.run(steps.release, key, { token, id: "", isNext: false }).catch((error: unknown) => {
    if (!(error as OrielError).transient || store.leaseClock() > provenUntilMs) return;
    idleTimeout(() => giveBack(hold), RETRY_MS);
  });
}
