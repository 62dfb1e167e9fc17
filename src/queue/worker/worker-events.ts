/** What a worker tells, and with what. */
export interface WorkerEvents {
  /** A message is done. */
  completed: { id: string; attempt: number; durationMs: number };
  /** A handler threw. */
  failed: { id: string; attempt: number; error: unknown };
  /** The message waits again. */
  retry: { id: string; attempt: number; delayMs: number };
  /**
   * A message is among the dead letters now: its last delivery failed (`error`: what the handler threw), or lapsed (LOST), or
   * it is no message (CORRUPT). Told once, by the worker that moved it.
   */
  dead: { id: string; attempt: number; error: unknown };
  /** A message that was claimed before was not acknowledged in time: it comes again, or is `dead` after its last delivery. */
  stalled: { id: string; attempt: number };
  /**
   * A message is no longer ours, and its result was not kept: it was claimed by another delivery, or is no more there. Or
   * the worker was closed and did not hear whether its result was kept: then the message may come again.
   */
  lost: { id: string; attempt: number };
  /** Messages are claimed later than they were due: the oldest of a turn by so much. */
  lag: { lateMs: number };
  /** The store fails; it is asked again. */
  error: { error: unknown };
}

export const WORKER_EVENTS: Record<keyof WorkerEvents, true> = {
  completed: true,
  failed: true,
  retry: true,
  dead: true,
  stalled: true,
  lost: true,
  lag: true,
  error: true,
};
