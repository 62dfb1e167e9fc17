import type { ClaimedMessage } from "./claimed.ts";
import type { Job } from "./job.ts";

/** A message that a worker holds: it waits for a handler, is in one, or its result is on its way. */
export interface Held<Payload> {
  message: ClaimedMessage<Payload>;
  job: Job<Payload>;
  shard: number;
  controller: AbortController;
  /** When it lapses, by the monotonic clock, counted from when it was asked for. */
  endsAtMs: number;
  startedAtMs: number;
  error: unknown;
  hasResult: boolean;
}
