import { OrielError } from "../../errors.ts";
import type { ClaimedMessage } from "./claimed.ts";

/** A message that a worker holds: it waits for a handler, is in one, or its result is on its way. */
export interface Held<Payload> {
  message: ClaimedMessage<Payload>;
  shard: number;
  /** Made where its signal is asked for. */
  controller: AbortController | undefined;
  /** Why it is no longer ours. */
  loss: Error | undefined;
  /** When it lapses, by the monotonic clock, counted from when it was asked for. */
  endsAtMs: number;
  startedAtMs: number;
  error: unknown;
}

/** When a message lapses at the earliest, by our clock; the server counts in whole ms, and so perhaps one of them short. */
export function lapseMs(askedAtMs: number, visibilityMs: number): number {
  return askedAtMs + visibilityMs - 1;
}

export function signalOf(held: Held<unknown>): AbortSignal {
  held.controller ??= new AbortController();
  if (held.loss) held.controller.abort(held.loss);
  return held.controller.signal;
}

/** Its handler is told; what it answers is still brought, and judged by the store. */
export function lose<Payload>(held: Held<Payload>): void {
  held.loss ??= new OrielError("LOST", `message ${held.message.id} is no longer claimed by this delivery`);
  held.controller?.abort(held.loss);
}
