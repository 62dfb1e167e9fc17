import { argumentError, checkKnown } from "../../base/errors.ts";
import { CLOCK, fn, type Schema, settingsOf } from "../../base/options.ts";
import { argumentErrorOf, atSite } from "../../base/site.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import { MetricBucket } from "./metric-bucket.ts";
import { bucketLengthMs, bucketStartMs, checkTime } from "./shape.ts";

/** Options of `LeapArray`. */
export interface LeapArrayOptions<T> {
  /** Default "sentinel". */
  mode?: LeapMode | undefined;
  /** Ms since 1970; default `Date.now`. Times before 1970 have no bucket. */
  clock?: Clock | undefined;
  /** Resets a value before its slot is reused. Default: its method `reset()`; without one, a new value replaces it. */
  reset?: ((value: T, startMs: number) => void) | undefined;
}

/**
 * A ring of `sampleCount` buckets over `interval`. The bucket of time t has slot (t / length) mod count, and starts at
 * t - t mod length. The ring never grows: it reuses the wrap of a slot.
 * Throws ARGUMENT if the buckets do not divide the interval evenly, or a time is not finite.
 * Cost: O(1) per call; O(sampleCount) for calls that list buckets. Source: Sentinel's LeapArray.
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
    const { mode, clock } = atSite("LeapArray", () => settingsOf(LEAP_ARRAY, options));
    const intervalMs = atSite("LeapArray", () => durationMs("interval", interval));
    this.lengthMs = bucketLengthMs(sampleCount, intervalMs, "LeapArray");
    if (typeof newBucket !== "function")
      throw argumentErrorOf("LeapArray", "newBucket", newBucket, "a function that returns a value");
    this.sampleCount = sampleCount;
    this.intervalMs = intervalMs;
    this.mode = mode;
    this.#clock = clock;
    this.#newBucket = newBucket;
    this.#reset = options.reset;
    this.#slots = new Array(sampleCount).fill(undefined);
  }

  /** How often a bucket was requested after a later one had taken its slot. Writes to such a bucket do not count. */
  get lateCount(): number {
    return this.#lateCount;
  }

  /** Slot of the bucket of `timeMs`, from 0. Times before 1970 have no bucket; their slot is -1. */
  indexOf(timeMs: number): number {
    const startMs = this.startOf(timeMs);
    return startMs < 0 ? -1 : (startMs / this.lengthMs) % this.sampleCount;
  }

  /** Start of the bucket of `timeMs`, ms since 1970. */
  startOf(timeMs: number): number {
    return bucketStartMs(timeMs, this.lengthMs, "LeapArray");
  }

  /**
   * The bucket of `timeMs`, which is created or reset if needed; null before 1970. If a later bucket has taken the slot,
   * returns a detached bucket that no query reads, and increments `lateCount`.
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

  /** The bucket before that of `timeMs`; null if it is deprecated, was never created, or its slot has another bucket. */
  previousWindow(timeMs = this.#clock()): WindowWrap<T> | null {
    const startMs = this.startOf(timeMs) - this.lengthMs;
    const wrap = this.#slots[this.indexOf(startMs)];
    return wrap?.startMs === startMs && !this.isWindowDeprecated(wrap, timeMs) ? wrap : null;
  }

  /** The value of the bucket of `timeMs`; null if there is none. Creates no bucket. */
  windowValue(timeMs = this.#clock()): T | null {
    const startMs = this.startOf(timeMs);
    const wrap = this.#slots[this.indexOf(startMs)];
    return wrap?.startMs === startMs ? wrap.value : null;
  }

  /** The bucket in the slot that is used next after `timeMs`; null if it is empty or deprecated. */
  validHead(timeMs = this.#clock()): WindowWrap<T> | null {
    checkTime(timeMs, "LeapArray");
    const wrap = timeMs < 0 ? undefined : this.#slots[this.indexOf(timeMs + this.lengthMs)];
    return wrap && !this.isWindowDeprecated(wrap, timeMs) ? wrap : null;
  }

  /** True if a bucket does not count at `timeMs`; see `LeapMode`. */
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

  /** Every bucket, deprecated ones included, in order of slots. */
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

/**
 * The buckets that count in an answer at `now`.
 * "exact": buckets with now - interval < start <= now.
 * "sentinel": also a bucket exactly one interval old, and those ahead of a clock that stepped back.
 * "future": buckets with now < start, for events that are booked ahead.
 */
export type LeapMode = "sentinel" | "exact" | "future";

const LEAP_ARRAY = {
  mode: [modeOf, "sentinel"],
  clock: CLOCK,
  reset: [fn<(value: never, startMs: number) => void>, null],
} as const satisfies Schema<LeapArrayOptions<never>>;

function modeOf(argument: string, mode: LeapMode): LeapMode {
  const known = ["sentinel", "exact", "future"];
  if (!known.includes(mode)) throw argumentError(argument, mode, known.map((name) => `"${name}"`).join(" or "));
  return mode;
}

function isDeprecated(mode: LeapMode, nowMs: number, startMs: number, intervalMs: number): boolean {
  if (mode === "future") return nowMs >= startMs;
  if (mode === "sentinel") return nowMs - startMs > intervalMs;
  return startMs > nowMs || nowMs - startMs >= intervalMs;
}

/** A value and the time span of its bucket: `startMs` <= t < `startMs + lengthMs`. Source: Sentinel's WindowWrap. */
export class WindowWrap<T> {
  readonly lengthMs: number;
  #startMs: number;
  value: T;

  constructor(lengthMs: number, startMs: number, value: T) {
    this.lengthMs = lengthMs;
    this.#startMs = startMs;
    this.value = value;
  }

  /** Ms since 1970, a multiple of `lengthMs`. */
  get startMs(): number {
    return this.#startMs;
  }

  /** Moves the wrap to another time span, and leaves the value as it is. */
  resetTo(startMs: number): this {
    this.#startMs = startMs;
    return this;
  }

  /** True if the time is inside. The end of the span belongs to the next bucket. */
  isTimeInWindow(timeMs: number): boolean {
    return this.#startMs <= timeMs && timeMs < this.#startMs + this.lengthMs;
  }
}

/**
 * A LeapArray of MetricBuckets in which passes can be booked in future buckets. A bucket starts with the passes booked
 * for it. MetricWindow does the same with typed arrays.
 * Source: Sentinel's OccupiableBucketLeapArray and FutureBucketLeapArray.
 */
export class OccupiableLeapArray extends LeapArray<MetricBucket> {
  readonly #borrowed: LeapArray<MetricBucket>;

  constructor(sampleCount: number, interval: Duration, options: { clock?: Clock | undefined } = {}) {
    atSite("OccupiableLeapArray", () => checkKnown(options, ["clock"]));
    const { clock = Date.now } = options;
    const borrowed = new LeapArray(sampleCount, interval, () => new MetricBucket(), { mode: "future", clock });
    const begin = (bucket: MetricBucket, timeMs: number) =>
      bucket.reset().addAllowed(borrowed.windowValue(timeMs)?.allowed ?? 0);
    super(sampleCount, interval, (timeMs) => begin(new MetricBucket(), timeMs), { clock, reset: begin });
    this.#borrowed = borrowed;
  }

  /** Books passes in the bucket of `timeMs`. */
  addWaiting(timeMs: number, count: number): void {
    this.#borrowed.currentWindow(timeMs)?.value.addAllowed(count);
  }

  /** Passes booked in future buckets. */
  currentWaiting(): number {
    return this.#borrowed.values().reduce((sum, bucket) => sum + bucket.allowed, 0);
  }
}
