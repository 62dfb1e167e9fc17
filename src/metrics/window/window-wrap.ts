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
