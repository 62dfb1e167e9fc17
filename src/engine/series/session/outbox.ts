import { argumentError, OrielError } from "../../../base/errors.ts";
import { instantMs } from "../../../base/time.ts";
import { constants } from "../../journal/format/constants.ts";
import { frameSize } from "../../journal/format/frames.ts";
import type { Column } from "../../kernel/contract.ts";
import { checkValue } from "../../kernel/nan.ts";
import { columnOf, timesOf } from "../../stats/values.ts";
import { BUFFERED, type Recorded, type SeriesSettings, STORED } from "../series-options.ts";
import { Batch, type CallOutcome } from "./batch.ts";

/** An upper bound: 4 bytes of time and 8 of value. A call's share of a batch then fits into one append. */
const DATED_BYTES_PER_EVENT = 12;
const DATED_PER_BATCH = Math.floor((constants.appendBytes - 4096) / DATED_BYTES_PER_EVENT);

/**
 * Events on their way to the store: batches in order, bounded in bytes.
 *
 *                take                                  put, putAt, putMany
 *   in flight  <──────  | batch 7 | batch 8 | batch 9 |  <──────  callers
 *   (batch 6)              oldest               open
 *   └──────────────── at most maxPendingBytes ────────┘
 *
 * Ids rise by one. A query names the last batch that it must see.
 */
export class Outbox {
  readonly #settings: SeriesSettings;
  readonly #toCallerError: ((error: unknown) => unknown) | undefined;
  #batches: Batch[] = [];
  #nextId = 1;
  /** Bytes of batches that were taken and have no answer yet. */
  #takenBytes = 0;

  /** `toCallerError` makes the error that callers of undated events see. */
  constructor(settings: SeriesSettings, toCallerError?: (error: unknown) => unknown) {
    this.#settings = settings;
    this.#toCallerError = toCallerError;
  }

  /** Id of the batch with the newest event; the first batch has id 1. */
  get lastId(): number {
    return this.#nextId - 1;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** Puts one undated event into the open batch, which reports its outcome. */
  put(value: number): Batch {
    const { valueType, nan, unitsPerOne } = this.#settings;
    checkValue(value, valueType, nan);
    this.#checkDated(undefined);
    this.#checkRoom(1, false);
    const batch = this.#open(1);
    batch.put(unitsPerOne === 0 ? value : rounded(value, unitsPerOne));
    return batch;
  }

  putAt(value: number, at: number | Date): Promise<Recorded> {
    const { valueType, nan } = this.#settings;
    checkValue(value, valueType, nan);
    return this.addMany(this.#columnOf([value]), Float64Array.of(instantMs("at", at)));
  }

  putMany(values: ArrayLike<number>, at: number | Date | ArrayLike<number> | undefined): Promise<Recorded> {
    const column = this.#columnOf(values);
    this.#checkDated(at);
    return this.addMany(column, at === undefined ? undefined : timesOf(at, column.length));
  }

  /**
   * Puts checked events. If a part of a large call fails, the error says how many events were written. `isBounded` is
   * false for events that another bound counts already.
   */
  addMany(values: Column, times?: Float64Array, isBounded = true): Promise<Recorded> {
    const total = values.length;
    if (total === 0) return Promise.resolve(STORED);
    if (isBounded) this.#checkRoom(total, times !== undefined);
    const parts: Promise<CallOutcome>[] = [];
    for (let from = 0; from < total; ) {
      let count: number;
      if (times) {
        count = Math.min(total - from, DATED_PER_BATCH);
        const batch = this.#fit(frameSize(this.#settings.valueType, count, true) + 4096);
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

  /** The oldest batch. The caller reports its end with `done`. */
  take(): Batch | undefined {
    const batch = this.#batches.shift();
    if (batch) this.#takenBytes += batch.sizeBytes;
    return batch;
  }

  /** An empty outbox of the same series, for events that must not wait behind these. */
  another(): Outbox {
    return new Outbox(this.#settings, this.#toCallerError);
  }

  done(batch: Batch): void {
    this.#takenBytes -= batch.sizeBytes;
  }

  /** Fails the batches up to `id`, which will not be sent. */
  failUntil(id: number, error: unknown): void {
    for (let [first] = this.#batches; first && first.id <= id; [first] = this.#batches) {
      this.#batches.shift();
      first.fail(error);
    }
  }

  #open(room: number): Batch {
    const last = this.#batches.at(-1);
    return last && last.room >= room ? last : this.#begin();
  }

  #fit(sizeBytes: number): Batch {
    const last = this.#batches.at(-1);
    return last && last.sizeBytes + sizeBytes <= constants.appendBytes ? last : this.#begin();
  }

  #begin(): Batch {
    const batch = new Batch(this.#nextId++, this.#settings, this.#toCallerError);
    this.#batches.push(batch);
    return batch;
  }

  #columnOf(values: ArrayLike<number>): Column {
    const { valueType, nan, unitsPerOne } = this.#settings;
    const column = columnOf(values, valueType, nan);
    if (unitsPerOne > 0) for (let i = 0; i < column.length; i++) column[i] = rounded(values[i]!, unitsPerOne);
    return column;
  }

  #checkDated(at: unknown): void {
    if (this.#settings.clock === 1 && at === undefined)
      throw argumentError("at", at, 'given, because the series has clock: "event"');
  }

  #checkRoom(count: number, dated: boolean): void {
    const { valueType, maxPendingBytes } = this.#settings;
    const bytes = frameSize(valueType, count, dated);
    let pending = this.#takenBytes;
    for (const batch of this.#batches) pending += batch.sizeBytes;
    if (pending + bytes > maxPendingBytes)
      throw new OrielError(
        "OVERLOADED",
        `${pending} bytes of events wait for the store; ${bytes} more would exceed maxPendingBytes, ${maxPendingBytes}`,
        { transient: bytes <= maxPendingBytes },
      );
  }
}

async function all(parts: Promise<CallOutcome>[], total: number): Promise<Recorded> {
  let written = 0;
  let isBuffered = false;
  let isUnknown = false;
  let failure: OrielError | undefined;
  for (const result of await Promise.allSettled(parts)) {
    if (result.status === "fulfilled") written += result.value.count;
    if (result.status === "fulfilled" && result.value.recorded.degraded) isBuffered = true;
    const why = result.status === "fulfilled" ? result.value.refusal : (result.reason as OrielError);
    failure ??= why;
    isUnknown ||= why?.applied === "unknown";
  }
  if (failure === undefined) return isBuffered ? BUFFERED : STORED;
  if (total === 1 || (parts.length === 1 && failure.code !== "LATE" && failure.code !== "EARLY")) throw failure;
  throw new OrielError(failure.code, `${written} of ${total} events were written: ${failure.message}`, {
    cause: failure,
    transient: failure.transient,
    applied: written > 0 || isUnknown ? "unknown" : "no",
  });
}

/** To a multiple of 1 / `unitsPerOne`. Numbers so large that they have no such fractions, and NaN, stay as they are. */
function rounded(value: number, unitsPerOne: number): number {
  const units = Math.round(value * unitsPerOne);
  // Without -0, which no rounding should make.
  return Number.isSafeInteger(units) ? (units + 0) / unitsPerOne : value;
}
