/** A bucket with the slice of time that it is for: `startMs` <= t < `startMs + lengthMs`. Source: Sentinel's WindowWrap. */
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

  /** Moves the wrap to another slice; the value stays as it is. */
  resetTo(startMs: number): this {
    this.#startMs = startMs;
    return this;
  }

  /** Half-open: the end belongs to the next one. */
  isTimeInWindow(timeMs: number): boolean {
    return this.#startMs <= timeMs && timeMs < this.#startMs + this.lengthMs;
  }
}
