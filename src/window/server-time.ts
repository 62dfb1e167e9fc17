import type { Clock } from "../time.ts";
import type { Answer } from "./answer.ts";

/** A machine that slept wakes with a wall clock that went on and a monotonic one that may not have. */
export const SLEPT_MS = 1000;
/** Clocks drift apart by up to 100 ms in this time; what was learnt before is asked anew. */
const LONGEST_TRUST_MS = 600_000;

/** What a process knows of the server's clock: the last answer's TIME, and how long ago that was here. */
export class ServerTime {
  readonly #monotonic: Clock;
  #isKnown = false;
  #serverMs = 0;
  #monotonicMs = 0;
  #wallMs = 0;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  learn(answer: Pick<Answer, "nowMs">): void {
    this.#isKnown = true;
    this.#serverMs = answer.nowMs;
    this.#monotonicMs = this.#monotonic();
    this.#wallMs = Date.now();
  }

  /** As well as can be told without asking; by this process's own clock where the server was never reached. */
  roughMs(): number {
    if (!this.#isKnown) return Date.now();
    return Math.floor(this.#serverMs + this.#monotonic() - this.#monotonicMs);
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Never ahead of the server, unless its clock was set back; undefined when it must be asked. */
  estimateMs(): number | undefined {
    if (!this.#isKnown) return undefined;
    const elapsedMs = this.#monotonic() - this.#monotonicMs;
    if (elapsedMs > LONGEST_TRUST_MS || Date.now() - this.#wallMs > elapsedMs + SLEPT_MS) return undefined;
    return Math.floor(this.#serverMs + elapsedMs);
  }
}
