import { isReplaced, type Schedule } from "./gathering.ts";

interface CoalescerOptions<Batch> {
  /** Calls `flush` once, after `schedule` has returned. It may choose anew for each batch. */
  schedule: Schedule;
  /** Makes an empty batch. */
  begin(): Batch;
  send(batch: Batch): void;
}

/**
 * Collects the items of several calls in one batch, which is sent once. The user decides what a batch is: an array, or
 * a map of groups that are sent apart.
 *
 * - The first `open` after a send begins a batch and schedules its flush. Later ones return the same batch.
 * - A batch that fake timers would never flush is scheduled anew by the first `open` under real ones.
 * - A batch is sent once, by the first flush after it began. That is its own flush, an explicit one of a full batch, or
 *   one that an earlier, full batch had scheduled.
 * - During `send` the next batch may already be opened. An error of `send` goes to the caller of `flush` and does not
 *   affect the next batch.
 *
 * To send one batch at a time, schedule nothing while a send runs, and flush when it has ended.
 */
export class Coalescer<Batch extends object> {
  readonly #options: CoalescerOptions<Batch>;
  #batch: Batch | undefined;
  /** The runtime's function that is to flush the batch. */
  #flusher: unknown;

  constructor(options: CoalescerOptions<Batch>) {
    this.#options = options;
  }

  /** Returns the batch to put an item into. Put it in at once, before you await anything. */
  open(): Batch {
    if (this.#batch !== undefined && !isReplaced(this.#flusher)) return this.#batch;
    // Without `this`: Workers and browsers refuse `queueMicrotask` as a method of another object.
    const { schedule } = this.#options;
    this.#flusher = schedule(this.flush);
    this.#batch ??= this.#options.begin();
    return this.#batch;
  }

  /** Sends the open batch, if there is one. */
  readonly flush = (): void => {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#options.send(batch);
  };
}
