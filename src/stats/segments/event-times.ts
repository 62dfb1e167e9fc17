/** Up to so many are quicker set one by one. */
const FEW = 64;
/** Half the range of u32: own times may lie before the first event of a segment. */
const HALF = 2 ** 31;

/**
 * Times of events in ms, 4 bytes each: u32 after `baseMs`, some 25 days to either side of the first one. Where one lies
 * further off, all become f64 with base 0, which holds any safe integer.
 */
export class EventTimes {
  baseMs = 0;
  ticks: Uint32Array | Float64Array;

  /** `capacity` events; the first one's time sets the base. */
  constructor(capacity: number) {
    this.ticks = new Uint32Array(capacity);
  }

  at(i: number): number {
    return this.baseMs + this.ticks[i];
  }

  /** Begins anew around `ms`. */
  begin(ms: number): void {
    this.baseMs = ms - HALF;
    if (!Number.isSafeInteger(this.baseMs)) this.#widen();
  }

  /** False when all became f64 for its sake. */
  set(i: number, ms: number): boolean {
    const tick = ms - this.baseMs;
    if (tick >= 0 && tick < 2 * HALF) {
      this.ticks[i] = tick;
      return true;
    }
    const fits = this.#fits(ms);
    this.ticks[i] = ms - this.baseMs;
    return fits;
  }

  /** One time for `[from, to)`; as `set`. */
  fill(from: number, to: number, ms: number): boolean {
    const fits = this.#fits(ms);
    const tick = ms - this.baseMs;
    const { ticks } = this;
    if (to - from > FEW) ticks.fill(tick, from, to);
    else for (let i = from; i < to; i++) ticks[i] = tick;
    return fits;
  }

  /** A copy of the first `count` with room for `capacity`. */
  resized(count: number, capacity: number): EventTimes {
    const times = new EventTimes(0);
    times.baseMs = this.baseMs;
    times.ticks = this.ticks instanceof Uint32Array ? new Uint32Array(capacity) : new Float64Array(capacity);
    times.ticks.set(this.ticks.subarray(0, count));
    return times;
  }

  #fits(ms: number): boolean {
    const tick = ms - this.baseMs;
    if ((tick >= 0 && tick < 2 * HALF) || this.ticks instanceof Float64Array) return true;
    this.#widen();
    return false;
  }

  #widen(): void {
    const { ticks, baseMs } = this;
    this.ticks = Float64Array.from(ticks, (tick) => baseMs + tick);
    this.baseMs = 0;
  }
}
