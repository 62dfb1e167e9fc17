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
  hasResult: boolean;
}
