import type { Clock } from "../time.ts";

export interface Instant {
  monotonicMs: number;
  wallMs: number;
}

/** How old what a process holds may be: counted from before the store was asked. */
export class Age {
  readonly #monotonic: Clock;
  #since: Instant | undefined;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  now(): Instant {
    return { monotonicMs: this.#monotonic(), wallMs: Date.now() };
  }

  learn(since: Instant): void {
    this.#since = since;
  }

  forget(): void {
    this.#since = undefined;
  }

  /** Infinity when nothing is held. The larger of two clocks: a machine that sleeps may stop one, a person sets the other. */
  get ms(): number {
    if (!this.#since) return Infinity;
    const { monotonicMs, wallMs } = this.now();
    return Math.max(monotonicMs - this.#since.monotonicMs, wallMs - this.#since.wallMs);
  }
}
