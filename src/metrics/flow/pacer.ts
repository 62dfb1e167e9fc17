import { DENY, type FlowDecision, PASS } from "./controller.ts";

/**
 * Spaces calls: each call passes at least its own `costMs` after the one before, and waits for that time. The state
 * is the lead of the last pass over now. That number is small, so high rates lose nothing to rounding.
 * If the clock goes back, no time has passed: no call waits longer than `maxWaitMs`, and no call passes sooner.
 */
export class Pacer {
  #aheadMs = Number.NEGATIVE_INFINITY;
  #nowMs = Number.NEGATIVE_INFINITY;

  /** Decides about a call that must pass at least `costMs` after the one before. */
  pass(costMs: number, maxWaitMs: number, nowMs: number): FlowDecision {
    if (nowMs > this.#nowMs) this.#aheadMs -= nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    const waitMs = this.#aheadMs + costMs;
    if (waitMs > maxWaitMs) return DENY;
    this.#aheadMs = Math.max(0, waitMs);
    return waitMs > 0 ? { allowed: true, waitMs } : PASS;
  }
}
