import type { Timers } from "../../../src/base/async/timers.ts";

interface Timer {
  atMs: number;
  run(): void;
}

/** Timers on a clock that tests step: they run in order of time, never early, each when the ones before have had their effect. */
export class SteppedTimers implements Timers {
  readonly #clock: { nowMs: number };
  readonly #settle: () => Promise<void>;
  #timers: Timer[] = [];

  constructor(clock: { nowMs: number }, settle: () => Promise<void>) {
    this.#clock = clock;
    this.#settle = settle;
  }

  /** How many wait. */
  get count(): number {
    return this.#timers.length;
  }

  /** When the next one runs; the present without one. */
  get nextMs(): number {
    return this.#timers.reduce((next, { atMs }) => Math.min(next, atMs), this.#timers[0]?.atMs ?? this.#clock.nowMs);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  after(ms: number, run: () => void): () => void {
    const timer = { atMs: this.#clock.nowMs + Math.max(0, Math.ceil(ms)), run };
    this.#timers.push(timer);
    return () => this.#remove(timer);
  }

  async advance(ms: number): Promise<void> {
    const endMs = this.#clock.nowMs + ms;
    for (;;) {
      await this.#settle();
      const first = this.#timers.reduce<Timer | undefined>((a, b) => (a && a.atMs <= b.atMs ? a : b), undefined);
      if (!first || first.atMs > endMs) break;
      this.#clock.nowMs = Math.max(this.#clock.nowMs, first.atMs);
      this.#remove(first);
      first.run();
    }
    this.#clock.nowMs = endMs;
    await this.#settle();
  }

  clear(): void {
    this.#timers = [];
  }

  #remove(timer: Timer): void {
    this.#timers = this.#timers.filter((each) => each !== timer);
  }
}
