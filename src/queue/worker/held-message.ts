import { OrielError } from "../../base/errors.ts";
import { causeOf, doNotRetryOf } from "../do-not-retry.ts";
import type { ClaimedMessage } from "./claimed.ts";
import type { OwnMessage } from "./own-messages.ts";

/** A message that a worker holds: it waits for a handler, is in one, or its result is being sent. */
export interface HeldMessage<Payload> {
  message: ClaimedMessage<Payload>;
  shard: number;
  /** Created when the signal is first read. */
  controller: AbortController | undefined;
  /** Why this worker no longer holds it. */
  loss: Error | undefined;
  /** Why its handler should stop although the message is still held: the worker closes. */
  interruption: Error | undefined;
  /** The pause that `job.again` asked for. */
  againMs: number | undefined;
  /** Its handler has ended, or its message was given back before. */
  isEnded: boolean;
  /** When the claim lapses, by the monotonic clock, counted from the time of the request. */
  endsAtMs: number;
  /** By the monotonic clock. */
  claimedAtMs: number;
  /** When its handler started, by the monotonic clock. */
  startedAtMs: number;
  error: unknown;
  /** Set when its handler starts. */
  own: OwnMessage | undefined;
  /** Of its envelope. */
  sizeBytes: number;
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
  const reason = held.interruption ?? held.loss;
  if (reason) held.controller.abort(reason);
  return held.controller.signal;
}

/** Aborts the handler's signal because the worker closes. The message is still held. */
export function interrupt(held: HeldMessage<unknown>): void {
  held.interruption ??= new DOMException(`the worker closes, and gives message ${held.message.id} back`, "AbortError");
  held.controller?.abort(held.interruption);
}

/** Whether a handler threw because it was interrupted: the signal's reason, an error with this cause, or an AbortError. */
export function isInterruption({ interruption }: HeldMessage<unknown>, thrown: unknown): boolean {
  if (!interruption || doNotRetryOf(thrown) !== undefined) return false;
  return causeOf(thrown, (error) => error === interruption || error.name === "AbortError") !== undefined;
}

/** Aborts the handler's signal. The handler's result is still sent, and the store decides whether it counts. */
export function markLost<Payload>(held: HeldMessage<Payload>): void {
  held.loss ??= new OrielError("LOST", `message ${held.message.id} is no longer claimed by this delivery`);
  held.controller?.abort(held.loss);
}
