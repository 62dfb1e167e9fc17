import { argumentError, checkKnown, wholeNumber } from "../../base/errors.ts";
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

/** Throws ARGUMENT. Infinity: without a bound. */
export function closeWithinMs(options: CloseOptions): number {
  checkKnown(options, ["within"]);
  if (options.within === undefined) return Number.POSITIVE_INFINITY;
  return durationMs("within", options.within, 0, 86_400_000);
}

export function workerSettings(options: WorkerOptions) {
  checkKnown(options, ["concurrency", "prefetch", "visibility", "attempts", "signal", "lagAfter"]);
  const { concurrency = 1, prefetch = 0, visibility = 30_000, attempts = 100, lagAfter = 1000, signal } = options;
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw argumentError("signal", signal, "an AbortSignal");
  return {
    concurrency: wholeNumber("concurrency", concurrency, 1, 1000),
    prefetch: wholeNumber("prefetch", prefetch, 0, 1000),
    visibilityMs: durationMs("visibility", visibility, 100, 86_400_000),
    attempts: wholeNumber("attempts", attempts, 1, 100),
    lagAfterMs: durationMs("lagAfter", lagAfter, 1),
    signal,
  };
}
