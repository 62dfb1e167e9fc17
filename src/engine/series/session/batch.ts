import { type Deferred, deferred } from "../../../base/async/deferred.ts";
import type { OrielError } from "../../../base/errors.ts";
import { VERDICT } from "../../journal/format/answer.ts";
import { valueBytes } from "../../journal/format/chunk.ts";
import { constants } from "../../journal/format/constants.ts";
import { encodeEvent, encodeFrame, type Frame, frameSize, MAX_IN_FRAME } from "../../journal/format/frames.ts";
import type { Column } from "../../kernel/contract.ts";
import { newColumn } from "../../stats/segments/segment.ts";
import { outOfTime } from "../refused.ts";
import { BUFFERED, type Recorded, type SeriesSettings, STORED, type WrittenListener } from "../series-options.ts";

/** One call's events with their own times. Its frames are its own, so a late event refuses no other call's events. */
interface DatedCall {
  frames: DatedFrame[];
  count: number;
  waiting: Deferred<CallOutcome>;
}

interface DatedFrame {
  values: Column;
  times: Float64Array;
}

/** How many of a call's events were written, and why the others were not. */
export interface CallOutcome {
  count: number;
  refusal?: OrielError;
  recorded: Recorded;
}

/** Buffers events in this process: with one time for all (undefined) or a time for each. Throws if it refuses them. */
export type BufferEvents = (values: Column, times: Float64Array | undefined) => void;

const NO_CALLS: DatedCall[] = [];
const ALL_WRITTEN = new Uint8Array(0);
const MAX_FRAME_MS = 2 ** 32 - 1;

/**
 * The events of one append.
 *
 *   undated events of all callers          | dated call | dated call | ...
 *   frames of up to 65 535 events          | its frames | its frames
 *   one promise, shared by these callers   | a promise  | a promise
 *
 * A batch ends in one of three ways: `settle` (the store answered), `buffer` (offline) or `fail`.
 */
export class Batch {
  readonly id: number;
  readonly #valueType: number;
  readonly #written: ReadonlySet<WrittenListener>;
  readonly #toCallerError: (error: unknown) => unknown;
  readonly #values: number[] = [];
  #dated: DatedCall[] = NO_CALLS;
  #datedBytes = 0;
  #shared: Deferred<Recorded> | undefined;
  #failure: unknown;
  #observed = 0;

  /** `toCallerError` makes the error that callers of undated events see. */
  constructor(
    id: number,
    { valueType, written }: Pick<SeriesSettings, "valueType" | "written">,
    toCallerError: (error: unknown) => unknown = (error) => error,
  ) {
    this.id = id;
    this.#written = written;
    this.#toCallerError = toCallerError;
    this.#valueType = valueType;
  }

  get sizeBytes(): number {
    const count = this.#values.length;
    const full = Math.floor(count / MAX_IN_FRAME);
    const rest = count % MAX_IN_FRAME;
    const undatedBytes =
      full * frameSize(this.#valueType, MAX_IN_FRAME, false) + (rest ? frameSize(this.#valueType, rest, false) : 0);
    return this.#datedBytes + undatedBytes;
  }

  /** Number of undated events that still fit. */
  get room(): number {
    const bytes = constants.appendBytes - this.#datedBytes - 16 * 8;
    return Math.max(0, Math.floor(bytes / valueBytes(this.#valueType)) - this.#values.length);
  }

  /** Whether any event has its own time. */
  get isDated(): boolean {
    return this.#dated.length > 0;
  }

  put(value: number): void {
    this.#values.push(value);
  }

  /** The value of a batch that consists of one undated event. */
  get lone(): number | undefined {
    return this.#values.length === 1 && this.#dated.length === 0 ? this.#values[0] : undefined;
  }

  /** The outcome of the undated events. */
  get written(): Promise<Recorded> {
    this.#shared ??= deferred();
    return this.#shared.promise;
  }

  /** Counts one undated event that no caller waits for. `fail` is called once for all of them. */
  observe(fail: (error: unknown, count: number) => void): void {
    this.#observed++;
    if (this.#observed === 1) this.written.catch((error) => fail(error, this.#observed));
  }

  /** Adds undated values. Rejects with the error of the store, without `toCallerError`. */
  addMany(values: ArrayLike<number>, from: number, to: number): Promise<Recorded> {
    for (let i = from; i < to; i++) this.#values.push(values[i]!);
    return this.written.catch(() => {
      throw this.#failure;
    });
  }

  addDated(values: Column, times: Float64Array): Promise<CallOutcome> {
    const frames = datedFrames(values, times);
    const call = { frames, count: values.length, waiting: deferred<CallOutcome>() };
    if (this.#dated === NO_CALLS) this.#dated = [];
    this.#dated.push(call);
    for (const frame of frames) this.#datedBytes += frameSize(this.#valueType, frame.values.length, true);
    return call.waiting.promise;
  }

  /** The frames in the order of `settle`'s verdicts. `next` returns the next sequence number. */
  frames(producer: number, next: () => number): Frame[] {
    const { lone } = this;
    if (lone !== undefined) return [encodeEvent(producer, next(), this.#valueType, lone)];
    const frames: Frame[] = [];
    for (let i = 0; i < this.#values.length; i += MAX_IN_FRAME)
      frames.push(encodeFrame(producer, next(), this.#column(i, i + MAX_IN_FRAME)));
    for (const call of this.#dated)
      for (const { values, times } of call.frames) frames.push(encodeFrame(producer, next(), values, times));
    return frames;
  }

  /** `isOnlyCopy`: no other copy of the request can have run, so a refused frame is in no chunk. */
  settle(verdicts: Uint8Array = ALL_WRITTEN, isOnlyCopy = false): void {
    this.#shared?.resolve(STORED);
    this.#tell(this.#values);
    let at = Math.ceil(this.#values.length / MAX_IN_FRAME);
    for (const call of this.#dated) {
      const own = verdicts.subarray(at, at + call.frames.length);
      settleDated(call, own, isOnlyCopy);
      for (const [i, { values }] of call.frames.entries()) if (own[i] === VERDICT.written) this.#tell(values);
      at += call.frames.length;
    }
  }

  /** Passes the events to `buffer` instead of the store. */
  buffer(buffer: BufferEvents): void {
    try {
      if (this.#values.length > 0) buffer(this.#column(0), undefined);
      this.#shared?.resolve(BUFFERED);
    } catch (error) {
      this.#failShared(error);
    }
    for (const call of this.#dated) {
      let count = 0;
      let refusal: OrielError | undefined;
      for (const { values, times } of call.frames)
        try {
          buffer(values, times);
          count += values.length;
        } catch (error) {
          refusal = error as OrielError;
        }
      call.waiting.resolve(refusal ? { count, refusal, recorded: BUFFERED } : { count, recorded: BUFFERED });
    }
  }

  #tell(values: ArrayLike<number>): void {
    if (values.length > 0) for (const listener of this.#written) listener(values);
  }

  fail(error: unknown): void {
    this.#failShared(error);
    for (const call of this.#dated) call.waiting.reject(error);
  }

  #failShared(error: unknown): void {
    this.#failure = error;
    this.#shared?.resolve(this.#rejection(error));
  }

  /**
   * The shared promise already waits for this async function, which makes the caller's error. The error's stack therefore
   * reaches the caller's line if the batch is one caller's. A `catch` for each call would do the same, at a cost for calls
   * that succeed.
   */
  async #rejection(error: unknown): Promise<never> {
    await undefined;
    await undefined;
    throw this.#toCallerError(error);
  }

  #column(from: number, to = this.#values.length): Column {
    const count = Math.min(to, this.#values.length) - from;
    const column = newColumn(this.#valueType, count);
    for (let i = 0; i < count; i++) column[i] = this.#values[from + i]!;
    return column;
  }
}

function settleDated(call: DatedCall, verdicts: Uint8Array, isOnlyCopy: boolean): void {
  let refused = 0;
  let first: { verdict: number | undefined; times: Float64Array } | undefined;
  for (const [i, { values, times }] of call.frames.entries()) {
    const verdict = verdicts[i];
    if (verdict === VERDICT.written) continue;
    refused += values.length;
    first ??= { verdict, times };
  }
  if (first === undefined) {
    call.waiting.resolve({ count: call.count, recorded: STORED });
    return;
  }
  const isEarly = first.verdict === VERDICT.early;
  const furthest = isEarly ? Math.max : Math.min;
  const atMs = first.times.reduce((one, other) => furthest(one, other));
  // If the answer to an earlier copy of the request was lost, that copy may have come in time.
  const applied = isOnlyCopy ? "no" : "unknown";
  const refusal = outOfTime(isEarly ? "EARLY" : "LATE", atMs, applied);
  call.waiting.resolve({ count: call.count - refused, refusal, recorded: STORED });
}

/** Splits a dated call so that no frame has too many events or spans too long a time. */
function datedFrames(values: Column, times: Float64Array): DatedFrame[] {
  const frames: DatedFrame[] = [];
  let from = 0;
  while (from < values.length) {
    let earliest = Number.POSITIVE_INFINITY;
    let latest = Number.NEGATIVE_INFINITY;
    let to = from;
    for (const ms of times.subarray(from, from + MAX_IN_FRAME)) {
      earliest = Math.min(earliest, ms);
      latest = Math.max(latest, ms);
      if (latest - earliest > MAX_FRAME_MS) break;
      to++;
    }
    frames.push({ values: values.subarray(from, to), times: times.subarray(from, to) });
    from = to;
  }
  return frames;
}
