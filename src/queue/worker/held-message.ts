import { OrielError } from "../../errors.ts";
import type { ClaimedMessage } from "./claimed.ts";

/** A message that a worker holds: it waits for a handler, is in one, or its result is being sent. */
export interface HeldMessage<Payload> {
  message: ClaimedMessage<Payload>;
  shard: number;
  /** Created when the signal is first read. */
  controller: AbortController | undefined;
  /** Why this worker no longer holds it. */
  loss: Error | undefined;
  /** When the claim lapses, by the monotonic clock, counted from the time of the request. */
  endsAtMs: number;
  /** By the monotonic clock, as the next one. */
  claimedAtMs: number;
  startedAtMs: number;
  error: unknown;
}

/**
 * The earliest time at which a claim lapses, by the local clock. The server counts whole ms, so the claim may be up to
 * one ms shorter.
 */
export function lapseMs(askedAtMs: number, visibilityMs: number): number {
  return askedAtMs + visibilityMs - 1;
}

export function signalOf(held: HeldMessage<unknown>): AbortSignal {
  held.controller ??= new AbortController();
  if (held.loss) held.controller.abort(held.loss);
  return held.controller.signal;
}

/** Aborts the handler's signal. The handler's result is still sent, and the store decides whether it counts. */
export function markLost<Payload>(held: HeldMessage<Payload>): void {
  held.loss ??= new OrielError("LOST", `message ${held.message.id} is no longer claimed by this delivery`);
  held.controller?.abort(held.loss);
}
