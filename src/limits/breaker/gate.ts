import { type ErrorSite, OrielError } from "../../base/errors.ts";
import { CAUSE } from "../../generated/layouts/breaker.ts";
import type { BreakerState } from "./circuit.ts";
import type { Cause, Command, Verdict } from "./rule.ts";

/** The state of a circuit and the counts of its window. */
export interface BreakerStats {
  state: BreakerState;
  /**
   * Calls in the window: of all processes, as of the store's last answer; without a store, of this process. If the circuit
   * is not closed: the counts that opened it. They stay while probes run, and when a probe opens it again.
   */
  calls: number;
  failures: number;
  slow: number;
  /** Ms until a call may be let through; 0 if the circuit is closed. */
  retryAfterMs: number;
  /** Ms for which an order decides: of `open`, or of `close` with `for`. 0 without one. */
  forcedMs: number;
  /** Processes that called within the span, as of the store's last answer; without a store 0. */
  processes: number;
  /** Those of them that see failures. */
  failing: number;
  /**
   * True while a process of a shared circuit decides without the store: because the store fails, or because with a `quorum` the
   * calls of this process opened the circuit for itself alone.
   */
  degraded: boolean;
}

/** The part of the store's answer that names an opening: the number of the state, about the time when it began, and its cause. */
export interface OfReply {
  epoch: number;
  cause: Cause;
}

/** An opening of a shared circuit, for its history. */
export interface Opening {
  /** Server ms. No two openings of a circuit have the same. */
  atMs: number;
  /** "calls": by the counts of the window, or the processes. "probe": a probe failed or was given up. "order": `open()` was called. */
  cause: "calls" | "probe" | "order";
  calls: number;
  failures: number;
  slow: number;
}

/** The events of a breaker. */
export interface BreakerEvents {
  /** Calls are rejected from now on. The event has the counts that opened the circuit. */
  open: BreakerStats;
  /** Probes are let through. */
  halfOpen: BreakerStats;
  close: BreakerStats;
  /** A call was rejected. */
  reject: { retryAfterMs: number };
  /**
   * The store fails, and this process decides alone until it is back. Emitted once per outage. Or a listener threw or
   * rejected: ARGUMENT, with its `cause`.
   */
  error: { error: unknown };
}

export const BREAKER_EVENTS: Record<keyof BreakerEvents, true> = {
  open: true,
  halfOpen: true,
  close: true,
  reject: true,
  error: true,
};

/** A permit to probe; 0: the call is no probe. Positive ones are granted by the store, negative ones by this process. */
export type Permit = number;

/** Decides which calls pass. Times are ms of the breaker's monotonic clock. */
export interface Gate {
  /** Changes when the circuit closes. A call that began under another number belongs to an earlier window. */
  readonly window: number;
  /** Whether every call passes at any time. If not, `enter` decides. */
  readonly isFree: boolean;
  /** Lets a call pass, with a permit if it is a probe. Throws OPEN. */
  enter(nowMs: number, signal: AbortSignal | undefined): Permit | Promise<Permit>;
  /** Counts calls. Returns whether they were counted: an open circuit counts none. */
  count(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean;
  /** Records the end of a probe. */
  settle(permit: Permit, verdict: Verdict, nowMs: number): void;
  stats(nowMs: number): BreakerStats;
  /** Reports to the store. */
  flush(): Promise<void>;
  /** Resolves once the store has answered or failed. */
  ready(): Promise<void>;
  /** Opens or closes the circuit, for `forMs` if that is not 0. */
  order(command: Command, forMs: number): Promise<void>;
}

/** The gate of a disabled breaker: every call passes, and none is counted. */
export const DISABLED: Pick<Gate, "window" | "isFree" | "count" | "settle"> = {
  window: 0,
  isFree: true,
  count: () => false,
  settle() {},
};

/** The ms for which an order decides, of those until a probe and of those of a closed circuit. */
export function forcedMsOf(state: BreakerState, cause: Cause, waitMs: number, heldMs: number): number {
  if (state === "closed") return heldMs;
  return state === "open" && cause === CAUSE.order ? waitMs : 0;
}

/** `isAlone`: this process rejects the call by itself. */
export function openError(waitMs: number, site: ErrorSite, isAlone = false): OrielError {
  const retryAfterMs = Math.max(1, Math.ceil(waitMs));
  const circuit = isAlone ? "the circuit of this process alone" : "the circuit";
  const message = `${circuit} is open; calls may be let through in ${retryAfterMs} ms`;
  return new OrielError("OPEN", message, { transient: true, retryAfterMs }, site);
}
