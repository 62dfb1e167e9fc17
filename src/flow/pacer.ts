import { DENY, type FlowDecision, PASS } from "./controller.ts";

/**
 * Lets calls pass one after another, each its own time after the one before, and has them wait for that. It keeps by how
 * much the last pass is ahead of now: a small number, so that nothing is rounded away however high the rate.
 * A clock that steps back counts as no time passing: nobody waits longer than `mostWaitMs`, nobody passes sooner.
 */
export class Pacer {
  #aheadMs = -Infinity;
  #nowMs = -Infinity;

  /** A call that comes `costMs` after the one before. */
  pass(costMs: number, mostWaitMs: number, nowMs: number): FlowDecision {
    if (nowMs > this.#nowMs) this.#aheadMs -= nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    const waitMs = this.#aheadMs + costMs;
    if (waitMs > mostWaitMs) return DENY;
    this.#aheadMs = Math.max(0, waitMs);
    return waitMs > 0 ? { allowed: true, waitMs } : PASS;
  }
}
