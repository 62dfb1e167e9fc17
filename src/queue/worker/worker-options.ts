import { signalOf, wholeNumber } from "../../base/errors.ts";
import type { Schema } from "../../base/options.ts";
import { type Duration, durationMs } from "../../base/time.ts";

/** Options of a queue's worker. */
export interface WorkerOptions {
  /** Handlers that run concurrently, 1 to 1000. Default 1. */
  concurrency?: number | undefined;
  /**
   * Messages claimed before a handler is free for them, 0 to 1000. Default 0. Their claims last no longer than others.
   */
  prefetch?: number | undefined;
  /** How long a claim lasts. It is extended while the handler runs. 100 ms to a day, default 30 s. */
  visibility?: Duration | undefined;
  /** Maximum deliveries, unless a message has a lower maximum. */
  attempts?: number | undefined;
  /** Closes the worker when it aborts. */
  signal?: AbortSignal | undefined;
  /** Emits `lag` when a message is claimed this much later than it was due. Default 1 s. */
  lagAfter?: Duration | undefined;
}

/** Options of `QueueWorker.close`. */
export interface CloseOptions {
  /**
   * Bounds the wait for running handlers: 0 to a day. Their signals abort at once. When the time is over, their messages
   * are given back.
   */
  within?: Duration | undefined;
}

/** A message whose handler still ran when its worker closed. The message was given back. */
export interface UnfinishedMessage {
  id: string;
  attempt: number;
  /** For how long its handler ran. */
  durationMs: number;
}

export const CLOSE = {
  within: [durationMs, Number.POSITIVE_INFINITY, 0, 86_400_000],
} as const satisfies Schema<CloseOptions>;
export const WORKER = {
  concurrency: [wholeNumber, 1, 1, 1000],
  prefetch: [wholeNumber, 0, 0, 1000],
  visibility: [durationMs, 30_000, 100, 86_400_000],
  attempts: [wholeNumber, Number.POSITIVE_INFINITY, 1, 100],
  signal: [signalOf],
  lagAfter: [durationMs, 1000, 1],
} as const satisfies Schema<WorkerOptions>;
