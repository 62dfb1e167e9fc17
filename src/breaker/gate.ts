import { type ErrorPlace, OrielError } from "../errors.ts";
import type { BreakerState } from "./circuit.ts";
import type { Verdict } from "./rule.ts";

/** What a breaker knows of its window. */
export interface BreakerStats {
  state: BreakerState;
  /**
   * Counted in the window: of all processes, as of the last answer of the store; without one, of this. Where the circuit is
   * not closed: what the window held that opened it, also while probes decide, and where one opens it again.
   */
  calls: number;
  failures: number;
  slow: number;
  /** After so long a call may be let through, ms; 0 where it is closed. */
  retryAfterMs: number;
}

/** What a breaker tells. */
export interface BreakerEvents {
  /** Calls are rejected from now on. With the numbers that opened it. */
  open: BreakerStats;
  /** Probes are let through. */
  halfOpen: BreakerStats;
  close: BreakerStats;
  /** A call was rejected. */
  reject: { retryAfterMs: number };
  /** The store fails: this process goes on alone until it is back. Told once for each time. */
  error: { error: unknown };
}

export const BREAKER_EVENTS: Record<keyof BreakerEvents, true> = {
  open: true,
  halfOpen: true,
  close: true,
  reject: true,
  error: true,
};

/** A permit to probe; 0: the call is no probe. Those above were given by the store, those below by this process alone. */
export type Permit = number;

/** Decides which calls pass. Times are ms of the breaker's monotonic clock. */
export interface Gate {
  /** Changes when a circuit closes: what began under another number is of an earlier window. */
  readonly window: number;
  /** Any call passes, whatever the time; else `enter` says. */
  readonly isFree: boolean;
  /** Lets a call pass, with a permit where it is a probe; throws OPEN. */
  enter(nowMs: number, signal: AbortSignal | undefined): Permit | Promise<Permit>;
  /** Whether it was counted: an open circuit counts nothing. */
  count(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean;
  /** What became of a probe. */
  settle(permit: Permit, verdict: Verdict, nowMs: number): void;
  stats(nowMs: number): BreakerStats;
  /** Hands in what is gathered. */
  flush(): Promise<void>;
}

export function openError(waitMs: number, place: ErrorPlace): OrielError {
  const retryAfterMs = Math.max(1, Math.ceil(waitMs));
  const message = `the circuit is open; calls may be let through in ${retryAfterMs} ms`;
  return new OrielError("OPEN", message, { transient: true, retryAfterMs }, place);
}
