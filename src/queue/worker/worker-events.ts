/** The events of a worker, and their data. */
export interface WorkerEvents {
  /** The worker has claimed a message, `lateMs` after it was due by the server's clock. */
  claimed: { id: string; attempt: number; lateMs: number };
  /** The handler of a message starts, `waitMs` after this worker claimed it. */
  started: { id: string; attempt: number; waitMs: number };
  /** A message is done. */
  completed: { id: string; attempt: number; durationMs: number };
  /** A handler has returned after `job.again`: the message comes again after `delayMs`. */
  again: { id: string; attempt: number; durationMs: number; delayMs: number };
  /** A handler threw. */
  failed: { id: string; attempt: number; error: unknown };
  /** The message will be retried. */
  retry: { id: string; attempt: number; delayMs: number };
  /**
   * A message has moved to the dead letters: its last delivery failed (`error` is what the handler threw) or lapsed
   * (LOST), its handler threw a DoNotRetryError, or its bytes are not a message (CORRUPT). Emitted once, by the worker that moved it.
   * If the delivery lapsed and its handler still completes the message, it leaves the dead letters, and `completed` follows.
   */
  dead: { id: string; attempt: number; error: unknown };
  /**
   * An earlier claim of this message lapsed without an acknowledgement. The message is delivered again, or is `dead`
   * after its last delivery.
   */
  stalled: { id: string; attempt: number };
  /**
   * This worker no longer holds the message and its result was not stored: another delivery claimed it, or it is gone.
   * Also emitted when the worker closed before it learned whether the result was stored; the message may then be
   * delivered again. Also emitted for a message that `close({ within })` gave back.
   */
  lost: { id: string; attempt: number };
  /** Messages are claimed late: the oldest of this turn was `lateMs` overdue. */
  lag: { lateMs: number };
  /** A request to the store failed. The worker retries. Or a listener threw or rejected: ARGUMENT, with its `cause`. */
  error: { error: unknown };
}

export const WORKER_EVENTS: Record<keyof WorkerEvents, true> = {
  claimed: true,
  started: true,
  completed: true,
  again: true,
  failed: true,
  retry: true,
  dead: true,
  stalled: true,
  lost: true,
  lag: true,
  error: true,
};
