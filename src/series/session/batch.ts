import { OrielError } from "../../errors.ts";
import { VERDICT } from "../../journal/format/answer.ts";
import { encodeFrame, type Frame, frameSize, MOST_IN_FRAME } from "../../journal/format/frames.ts";
import { law } from "../../journal/format/law.ts";
import type { Column } from "../../kernel/contract.ts";
import { KEPT, type Recorded, STORED } from "../recorded.ts";
import { type Waiting, waiting } from "../waiting.ts";

/** One call's events with their own times: frames of its own, so that a late event refuses nobody else's. */
interface DatedCall {
  frames: { values: Column; times: Float64Array }[];
  count: number;
  waiting: Waiting<Written>;
}

/** How many of a call's events were written, and why not all. */
export interface Written {
  count: number;
  refusal?: OrielError;
  recorded: Recorded;
}

/** Keeps events that the store did not take; one time for all, or each its own. Throws where it refuses them. */
export type Keep = (values: Column, times: Float64Array | undefined) => void;

const NO_CALLS: DatedCall[] = [];
const ALL_WRITTEN = new Uint8Array(0);
const LONGEST_FRAME_MS = 2 ** 32 - 1;

/** What goes to the store in one append: all undated events of its callers, who share one promise, and dated calls. */
export class Batch {
  readonly id: number;
  readonly #valueType: number;
  readonly #told: (error: unknown) => unknown;
  readonly #values: number[] = [];
  #dated: DatedCall[] = NO_CALLS;
  #datedBytes = 0;
  #shared: Waiting<Recorded> | undefined;
  #failure: unknown;
  #observed = 0;

  /** `told`: what who recorded undated events rejects with, made of what went wrong. */
  constructor(id: number, valueType: number, told: (error: unknown) => unknown = (error) => error) {
    this.id = id;
    this.#told = told;
    this.#valueType = valueType;
  }

  get sizeBytes(): number {
    const count = this.#values.length;
    const full = Math.floor(count / MOST_IN_FRAME);
    const rest = count % MOST_IN_FRAME;
    const undatedBytes =
      full * frameSize(this.#valueType, MOST_IN_FRAME, false) + (rest ? frameSize(this.#valueType, rest, false) : 0);
    return this.#datedBytes + undatedBytes;
  }

  /** How many more undated events fit. */
  get room(): number {
    const bytes = law.appendBytes - this.#datedBytes - 16 * 8;
    return Math.max(0, Math.floor(bytes / (this.#valueType === 1 ? 8 : 4)) - this.#values.length);
  }

  /** Whether it has events with their own times. */
  get isDated(): boolean {
    return this.#dated.length > 0;
  }

  put(value: number): void {
    this.#values.push(value);
  }

  /** The value, where the batch is one undated event. */
  get lone(): number | undefined {
    return this.#values.length === 1 && this.#dated.length === 0 ? this.#values[0] : undefined;
  }

  /** What becomes of the undated events. */
  get written(): Promise<Recorded> {
    this.#shared ??= waiting();
    return this.#shared.promise;
  }

  /** Counts one more of the undated events as nobody's who waits: `fail` is told once of all of them. */
  observe(fail: (error: unknown, count: number) => void): void {
    this.#observed++;
    if (this.#observed === 1) this.written.catch((error) => fail(error, this.#observed));
  }

  /** Rejects with what went wrong, untold. */
  addMany(values: ArrayLike<number>, from: number, to: number): Promise<Recorded> {
    for (let i = from; i < to; i++) this.#values.push(values[i]);
    return this.written.catch(() => {
      throw this.#failure;
    });
  }

  addDated(values: Column, times: Float64Array): Promise<Written> {
    const frames = datedFrames(values, times);
    const call = { frames, count: values.length, waiting: waiting<Written>() };
    if (this.#dated === NO_CALLS) this.#dated = [];
    this.#dated.push(call);
    for (const frame of frames) this.#datedBytes += frameSize(this.#valueType, frame.values.length, true);
    return call.waiting.promise;
  }

  /** The frames in the order in which `settle` expects their verdicts; `next` gives their sequence numbers. */
  frames(producer: number, next: () => number): Frame[] {
    const frames: Frame[] = [];
    for (let i = 0; i < this.#values.length; i += MOST_IN_FRAME)
      frames.push(encodeFrame(producer, next(), this.#column(i, i + MOST_IN_FRAME)));
    for (const call of this.#dated)
      for (const { values, times } of call.frames) frames.push(encodeFrame(producer, next(), values, times));
    return frames;
  }

  /** `isOnlyCopy`: no other copy of the frames can have been written, so that what is refused is in no chunk. */
  settle(verdicts: Uint8Array = ALL_WRITTEN, isOnlyCopy = false): void {
    this.#shared?.resolve(STORED);
    let at = Math.ceil(this.#values.length / MOST_IN_FRAME);
    for (const call of this.#dated) {
      const refused = call.frames.map((frame, i) => ({ frame, verdict: verdicts[at + i] }));
      at += call.frames.length;
      settleDated(
        call,
        refused.filter(({ verdict }) => verdict !== VERDICT.written),
        isOnlyCopy,
      );
    }
  }

  /** Its events go to `keep` instead of the store. */
  keep(keep: Keep): void {
    try {
      if (this.#values.length > 0) keep(this.#column(0), undefined);
      this.#shared?.resolve(KEPT);
    } catch (error) {
      this.#failShared(error);
    }
    for (const call of this.#dated) {
      let count = 0;
      let refusal: OrielError | undefined;
      for (const { values, times } of call.frames)
        try {
          keep(values, times);
          count += values.length;
        } catch (error) {
          refusal = error as OrielError;
        }
      call.waiting.resolve(refusal ? { count, refusal, recorded: KEPT } : { count, recorded: KEPT });
    }
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
   * What is told is made in an async function that the shared promise waits for already: its stack then goes on to the
   * caller's line, where the batch is one caller's. A `catch` for each call would do the same, at a cost where nothing fails.
   */
  async #rejection(error: unknown): Promise<never> {
    await undefined;
    await undefined;
    throw this.#told(error);
  }

  #column(from: number, to?: number): Column {
    const values = this.#values.slice(from, to);
    return this.#valueType === 1 ? Float64Array.from(values) : Float32Array.from(values);
  }
}

function settleDated(
  call: DatedCall,
  refused: { frame: { values: Column }; verdict: number }[],
  isOnlyCopy: boolean,
): void {
  if (refused.length === 0) {
    call.waiting.resolve({ count: call.count, recorded: STORED });
    return;
  }
  const lost = refused.reduce((sum, { frame }) => sum + frame.values.length, 0);
  const early = refused[0].verdict === VERDICT.early;
  const why = early ? `more than ${law.earlyMs} ms ahead of the server's clock` : "older than the retention";
  // An earlier copy of the request, whose answer was lost, may have come in time.
  const applied = isOnlyCopy ? "no" : "unknown";
  const refusal = new OrielError(early ? "EARLY" : "LATE", `at: an event is ${why}`, { applied });
  call.waiting.resolve({ count: call.count - lost, refusal, recorded: STORED });
}

/** Splits a dated call where a frame would be too long in events or in time. */
function datedFrames(values: Column, times: Float64Array): { values: Column; times: Float64Array }[] {
  const frames: { values: Column; times: Float64Array }[] = [];
  let from = 0;
  while (from < values.length) {
    let earliest = times[from];
    let latest = times[from];
    let to = from + 1;
    for (; to < values.length && to - from < MOST_IN_FRAME; to++) {
      earliest = Math.min(earliest, times[to]);
      latest = Math.max(latest, times[to]);
      if (latest - earliest > LONGEST_FRAME_MS) break;
    }
    frames.push({ values: values.subarray(from, to), times: times.subarray(from, to) });
    from = to;
  }
  return frames;
}
