import type { Clock } from "../../time.ts";
import { SLEPT_MS } from "./server-time.ts";

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

  /** Infinity when nothing is held, or the machine slept meanwhile. */
  get ms(): number {
    if (!this.#since) return Infinity;
    const { monotonicMs, wallMs } = this.now();
    const elapsedMs = monotonicMs - this.#since.monotonicMs;
    return wallMs - this.#since.wallMs > elapsedMs + SLEPT_MS ? Infinity : elapsedMs;
  }
}
