import type { Clock } from "../base/time.ts";

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
