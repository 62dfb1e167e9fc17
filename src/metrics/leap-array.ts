import { checkKnown } from "../errors.ts";
import { argumentErrorOf, placed } from "../place.ts";
import { type Clock, type Duration, durationMs } from "../time.ts";
import { checkMode, isDeprecated, type LeapMode } from "./leap-mode.ts";
import { bucketLengthMs, bucketStartMs, checkTime } from "./shape.ts";
import { WindowWrap } from "./window-wrap.ts";

export interface LeapArrayOptions<T> {
  /** Default "sentinel". */
  mode?: LeapMode | undefined;
  /** Ms since 1970; default `Date.now`. Times before 1970 have no bucket. */
  clock?: Clock | undefined;
  /** Makes a value that is used again as good as new; default: its method `reset()`, else a new value takes its place. */
  reset?: ((value: T, startMs: number) => void) | undefined;
}

/**
 * A ring of `sampleCount` buckets over `interval`: the bucket of t is slot (t / length) mod count and starts at
 * t - t mod length. It never grows, a slot's wrap is used again. Each call costs O(1), those that list O(sampleCount).
 * ARGUMENT for a shape that does not divide evenly and for a time that is not finite. Source: Sentinel's LeapArray.
 */
export class LeapArray<T> {
  readonly sampleCount: number;
  readonly intervalMs: number;
  readonly lengthMs: number;
  readonly mode: LeapMode;
  readonly #clock: Clock;
  readonly #newBucket: (timeMs: number) => T;
  readonly #reset: ((value: T, startMs: number) => void) | undefined;
  readonly #slots: (WindowWrap<T> | undefined)[];
  #lateCount = 0;

  constructor(
    sampleCount: number,
    interval: Duration,
    newBucket: (timeMs: number) => T,
    options: LeapArrayOptions<T> = {},
  ) {
    const intervalMs = placed("LeapArray", () => {
      checkKnown(options, ["mode", "clock", "reset"]);
      return durationMs("interval", interval);
    });
    const { mode = "sentinel", clock = Date.now, reset } = options;
    this.lengthMs = bucketLengthMs(sampleCount, intervalMs, "LeapArray");
    if (typeof newBucket !== "function")
      throw argumentErrorOf("LeapArray", "newBucket", newBucket, "a function that makes a value");
    if (typeof clock !== "function")
      throw argumentErrorOf("LeapArray", "clock", clock, "a function that gives ms since 1970");
    if (reset !== undefined && typeof reset !== "function")
      throw argumentErrorOf("LeapArray", "reset", reset, "a function");
    this.sampleCount = sampleCount;
    this.intervalMs = intervalMs;
    this.mode = placed("LeapArray", () => checkMode(mode, ["sentinel", "exact", "future"]));
    this.#clock = clock;
    this.#newBucket = newBucket;
    this.#reset = reset;
    this.#slots = new Array(sampleCount).fill(undefined);
  }

  /** How often a bucket was asked for whose slot had gone on to a later one: what was written to it counts nowhere. */
  get lateCount(): number {
    return this.#lateCount;
  }

  /** Slot of the bucket of `timeMs`, from 0; -1 before 1970, where there are none. */
  indexOf(timeMs: number): number {
    const startMs = this.startOf(timeMs);
    return startMs < 0 ? -1 : (startMs / this.lengthMs) % this.sampleCount;
  }

  /** Start of the bucket of `timeMs`, ms since 1970. */
  startOf(timeMs: number): number {
    return bucketStartMs(timeMs, this.lengthMs, "LeapArray");
  }

  /**
   * The bucket of `timeMs`: made, used again or reset as needed. Null before 1970; where the slot has gone on to a later
   * bucket, a detached one that nothing reads, and `lateCount` goes up.
   */
  currentWindow(timeMs = this.#clock()): WindowWrap<T> | null {
    const startMs = this.startOf(timeMs);
    const index = this.indexOf(startMs);
    if (index < 0) return null;
    const old = this.#slots[index];
    if (old?.startMs === startMs) return old;
    if (old === undefined || old.startMs > startMs) {
      const wrap = new WindowWrap(this.lengthMs, startMs, this.#newBucket(timeMs));
      if (old === undefined) this.#slots[index] = wrap;
      else this.#lateCount++;
      return wrap;
    }
    this.#renew(old, startMs);
    return old.resetTo(startMs);
  }

  /** The bucket right before that of `timeMs`; null where it was never made, or its slot holds another, or it is deprecated. */
  previousWindow(timeMs = this.#clock()): WindowWrap<T> | null {
    const startMs = this.startOf(timeMs) - this.lengthMs;
    const wrap = this.#slots[this.indexOf(startMs)];
    return wrap?.startMs === startMs && !this.isWindowDeprecated(wrap, timeMs) ? wrap : null;
  }

  /** The value whose bucket `timeMs` lies in; null where there is none. Makes nothing. */
  windowValue(timeMs = this.#clock()): T | null {
    const startMs = this.startOf(timeMs);
    const wrap = this.#slots[this.indexOf(startMs)];
    return wrap?.startMs === startMs ? wrap.value : null;
  }

  /** The oldest bucket of a ring that is full at `timeMs`: the slot to be used next; null where it is empty or deprecated. */
  validHead(timeMs = this.#clock()): WindowWrap<T> | null {
    checkTime(timeMs, "LeapArray");
    const wrap = timeMs < 0 ? undefined : this.#slots[this.indexOf(timeMs + this.lengthMs)];
    return wrap && !this.isWindowDeprecated(wrap, timeMs) ? wrap : null;
  }

  /** Whether a bucket counts no more (mode "future": counts now) at `timeMs`. */
  isWindowDeprecated(wrap: WindowWrap<T>, timeMs = this.#clock()): boolean {
    checkTime(timeMs, "LeapArray");
    if (!(wrap instanceof WindowWrap)) throw argumentErrorOf("LeapArray", "wrap", wrap, "a bucket of a LeapArray");
    return isDeprecated(this.mode, timeMs, wrap.startMs, this.intervalMs);
  }

  /** The buckets that count at `timeMs`, in order of slots. */
  list(timeMs = this.#clock()): WindowWrap<T>[] {
    this.startOf(timeMs);
    return this.listAll().filter((wrap) => !this.isWindowDeprecated(wrap, timeMs));
  }

  /** Every bucket there is, in order of slots. */
  listAll(): WindowWrap<T>[] {
    return this.#slots.filter((wrap) => wrap !== undefined);
  }

  /** The values that count at `timeMs`, in order of slots; none before 1970. */
  values(timeMs = this.#clock()): T[] {
    checkTime(timeMs, "LeapArray");
    return timeMs < 0 ? [] : this.list(timeMs).map((wrap) => wrap.value);
  }

  /** The buckets that count at `timeMs` from the one of `sinceMs` on, oldest first. */
  windowsSince(sinceMs: number, timeMs = this.#clock()): WindowWrap<T>[] {
    const firstMs = this.startOf(sinceMs);
    return this.list(timeMs)
      .filter((wrap) => wrap.startMs >= firstMs)
      .sort((a, b) => a.startMs - b.startMs);
  }

  #renew(wrap: WindowWrap<T>, startMs: number): void {
    const value = wrap.value as T & { reset?: unknown };
    if (this.#reset) this.#reset(wrap.value, startMs);
    else if (typeof value?.reset === "function") value.reset();
    else wrap.value = this.#newBucket(startMs);
  }
}
