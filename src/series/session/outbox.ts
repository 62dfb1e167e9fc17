import { OrielError } from "../../errors.ts";
import { frameSize } from "../../journal/format/frames.ts";
import { law } from "../../journal/format/law.ts";
import type { Column } from "../../kernel/contract.ts";
import { KEPT, type Recorded, STORED } from "../recorded.ts";
import { Batch, type Written } from "./batch.ts";

/** Dated events per batch and call, so that a call's frames fit one append whatever its value type. */
const DATED_BYTES_PER_EVENT = 12;
const DATED_PER_BATCH = Math.floor((law.appendBytes - 4096) / DATED_BYTES_PER_EVENT);

/** Events on their way: batches in order, bounded in bytes. */
export class Outbox {
  readonly #valueType: number;
  readonly #maxBytes: number;
  readonly #told: ((error: unknown) => unknown) | undefined;
  #batches: Batch[] = [];
  #nextId = 1;
  /** Bytes of batches taken but not yet answered. */
  #takenBytes = 0;

  constructor(valueType: number, maxBytes: number, told?: (error: unknown) => unknown) {
    this.#valueType = valueType;
    this.#told = told;
    this.#maxBytes = maxBytes;
  }

  /** Id of the batch that the last event went into; the first of all is 1. */
  get lastId(): number {
    return this.#nextId - 1;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** Puts one undated event into a batch, which tells what becomes of it. */
  put(value: number): Batch {
    this.#checkRoom(1, false);
    const batch = this.#open(1);
    batch.put(value);
    return batch;
  }

  /**
   * All or, where a part of a large call fails, an error that says how many events were written. `isBounded`: false for
   * events that another bound holds already.
   */
  addMany(values: Column, times?: Float64Array, isBounded = true): Promise<Recorded> {
    const total = values.length;
    if (total === 0) return Promise.resolve(STORED);
    if (isBounded) this.#checkRoom(total, times !== undefined);
    const parts: Promise<Written>[] = [];
    for (let from = 0; from < total; ) {
      let count: number;
      if (times) {
        count = Math.min(total - from, DATED_PER_BATCH);
        const batch = this.#fit(frameSize(this.#valueType, count, true) + 4096);
        parts.push(batch.addDated(values.slice(from, from + count), times.slice(from, from + count)));
      } else {
        const batch = this.#open(Math.min(total - from, 1024));
        count = Math.min(total - from, batch.room);
        const written = count;
        parts.push(batch.addMany(values, from, from + count).then((recorded) => ({ count: written, recorded })));
      }
      from += count;
    }
    return all(parts, total);
  }

  /** The oldest batch; `done` must be called when it is answered or has failed. */
  take(): Batch | undefined {
    const batch = this.#batches.shift();
    if (batch) this.#takenBytes += batch.sizeBytes;
    return batch;
  }

  /** For events beside those that wait here. */
  another(): Outbox {
    return new Outbox(this.#valueType, this.#maxBytes, this.#told);
  }

  done(batch: Batch): void {
    this.#takenBytes -= batch.sizeBytes;
  }

  /** The batches up to this one will not be sent. */
  failUntil(id: number, error: unknown): void {
    while (this.#batches.length > 0 && this.#batches[0].id <= id) this.#batches.shift()?.fail(error);
  }

  #open(room: number): Batch {
    const last = this.#batches.at(-1);
    return last && last.room >= room ? last : this.#begin();
  }

  #fit(sizeBytes: number): Batch {
    const last = this.#batches.at(-1);
    return last && last.sizeBytes + sizeBytes <= law.appendBytes ? last : this.#begin();
  }

  #begin(): Batch {
    const batch = new Batch(this.#nextId++, this.#valueType, this.#told);
    this.#batches.push(batch);
    return batch;
  }

  #checkRoom(count: number, dated: boolean): void {
    const bytes = frameSize(this.#valueType, count, dated);
    let pending = this.#takenBytes;
    for (const batch of this.#batches) pending += batch.sizeBytes;
    if (pending + bytes > this.#maxBytes)
      throw new OrielError(
        "OVERLOADED",
        `${pending} bytes of events wait for the store; ${bytes} more would pass maxPendingBytes, ${this.#maxBytes}`,
        { transient: bytes <= this.#maxBytes },
      );
  }
}

async function all(parts: Promise<Written>[], total: number): Promise<Recorded> {
  let written = 0;
  let isKept = false;
  let isUnknown = false;
  let failure: OrielError | undefined;
  for (const result of await Promise.allSettled(parts)) {
    if (result.status === "fulfilled") written += result.value.count;
    if (result.status === "fulfilled" && result.value.recorded.degraded) isKept = true;
    const why = result.status === "fulfilled" ? result.value.refusal : (result.reason as OrielError);
    failure ??= why;
    isUnknown ||= why?.applied === "unknown";
  }
  if (failure === undefined) return isKept ? KEPT : STORED;
  if (total === 1 || (parts.length === 1 && failure.code !== "LATE" && failure.code !== "EARLY")) throw failure;
  throw new OrielError(failure.code, `${written} of ${total} events were written: ${failure.message}`, {
    cause: failure,
    transient: failure.transient,
    applied: written > 0 || isUnknown ? "unknown" : "no",
  });
}
