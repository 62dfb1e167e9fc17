/** Up to this many times, a loop is faster than `TypedArray.fill`. */
const MAX_LOOPED = 64;
/** Half the range of u32. The base lies this far before the first event, since later events may have earlier times. */
const HALF_RANGE = 2 ** 31;

/**
 * Times of events in ms. Each is a u32 after `baseMs`, which covers 24 days before and after the first event. If an
 * event is further away, all times become f64 with base 0, which can represent any safe integer.
 */
export class EventTimes {
  baseMs = 0;
  ticks: Uint32Array | Float64Array;

  /** Room for `capacity` events. `begin` sets the base. */
  constructor(capacity: number) {
    this.ticks = new Uint32Array(capacity);
  }

  at(i: number): number {
    return this.baseMs + this.ticks[i]!;
  }

  /** Sets the base for a first event at `ms`. */
  begin(ms: number): void {
    this.baseMs = ms - HALF_RANGE;
    if (!Number.isSafeInteger(this.baseMs)) this.#widen();
  }

  /** Returns false if the time did not fit, so that all ticks and the base have changed. */
  set(i: number, ms: number): boolean {
    const tick = ms - this.baseMs;
    if (tick >= 0 && tick < 2 * HALF_RANGE) {
      this.ticks[i] = tick;
      return true;
    }
    const fits = this.#fits(ms);
    this.ticks[i] = ms - this.baseMs;
    return fits;
  }

  /** Sets one time for the events from `from` to before `to`. Returns the same as `set`. */
  fill(from: number, to: number, ms: number): boolean {
    const fits = this.#fits(ms);
    const tick = ms - this.baseMs;
    const { ticks } = this;
    if (to - from > MAX_LOOPED) ticks.fill(tick, from, to);
    else for (let i = from; i < to; i++) ticks[i] = tick;
    return fits;
  }

  /** A copy of the first `count` times, with room for `capacity`. */
  resized(count: number, capacity: number): EventTimes {
    const times = new EventTimes(0);
    times.baseMs = this.baseMs;
    times.ticks = this.ticks instanceof Uint32Array ? new Uint32Array(capacity) : new Float64Array(capacity);
    times.ticks.set(this.ticks.subarray(0, count));
    return times;
  }

  #fits(ms: number): boolean {
    const tick = ms - this.baseMs;
    if ((tick >= 0 && tick < 2 * HALF_RANGE) || this.ticks instanceof Float64Array) return true;
    this.#widen();
    return false;
  }

  #widen(): void {
    const { ticks, baseMs } = this;
    this.ticks = Float64Array.from(ticks, (tick) => baseMs + tick);
    this.baseMs = 0;
  }
}
