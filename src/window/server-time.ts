import type { Clock } from "../time.ts";
import type { Answer } from "./answer.ts";

/** A machine that slept wakes with a wall clock that went on and a monotonic one that may not have. */
export const SLEPT_MS = 1000;
/** Clocks drift apart by up to 100 ms in this time; what was learnt before is asked anew. */
const LONGEST_TRUST_MS = 600_000;

/** What a process knows of the server's clock: the last answer's TIME, and how long ago that was here. */
export class ServerTime {
  readonly #monotonic: Clock;
  #known: { serverMs: number; monotonicMs: number; wallMs: number } | undefined;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  learn(answer: Answer): void {
    this.#known = { serverMs: answer.nowMs, monotonicMs: this.#monotonic(), wallMs: Date.now() };
  }

  /** As well as can be told without asking; by this process's own clock where the server was never reached. */
  roughMs(): number {
    if (!this.#known) return Date.now();
    return Math.floor(this.#known.serverMs + this.#monotonic() - this.#known.monotonicMs);
  }

  get isKnown(): boolean {
    return this.#known !== undefined;
  }

  /** Never ahead of the server, unless its clock was set back; undefined when it must be asked. */
  estimateMs(): number | undefined {
    if (!this.#known) return undefined;
    const elapsedMs = this.#monotonic() - this.#known.monotonicMs;
    if (elapsedMs > LONGEST_TRUST_MS || Date.now() - this.#known.wallMs > elapsedMs + SLEPT_MS) return undefined;
    return Math.floor(this.#known.serverMs + elapsedMs);
  }
}
