import { fn, type Schema, settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import {
  atLeast,
  checkPasses,
  DENY,
  type FlowDecision,
  type FlowNode,
  PASS,
  type TrafficShapingController,
} from "./controller.ts";

/** Options of `ThrottlingController`. */
export interface ThrottlingOptions {
  /** Passes per `interval`; 0 allows none. */
  count: number;
  /** Default "1s". */
  interval?: Duration | undefined;
  /** A call that would wait longer is denied; default "500ms". */
  maxQueueingTime?: Duration | undefined;
  /** Ms, fractions too; default `performance.now`. */
  clock?: Clock | undefined;
}

/**
 * Uniform queueing: passes are `interval / count` apart, and a decision contains the wait. Exact at any rate.
 * A call for 0 passes is always allowed. Cost: O(1). Source: Sentinel's ThrottlingController.
 */
export class ThrottlingController implements TrafficShapingController {
  readonly #msPerPass: number;
  readonly #maxQueueingTimeMs: number;
  readonly #clock: Clock;
  readonly #pacer = new Pacer();

  constructor(options: ThrottlingOptions) {
    const settings = atSite("ThrottlingController", () => settingsOf(THROTTLING, options));
    const { count, intervalMs, maxQueueingTimeMs, clock } = settings;
    this.#msPerPass = intervalMs / count;
    this.#maxQueueingTimeMs = maxQueueingTimeMs;
    this.#clock = clock;
  }

  /** Allows calls at equal distances. The decision says how long the call must wait. */
  tryPass(_node?: FlowNode, count = 1): FlowDecision {
    checkPasses(count, "ThrottlingController");
    if (count === 0) return PASS;
    if (this.#msPerPass === Number.POSITIVE_INFINITY) return DENY;
    return this.#pacer.pass(count * this.#msPerPass, this.#maxQueueingTimeMs, this.#clock());
  }
}

const THROTTLING = {
  count: [atLeast, undefined, 0, "passes per interval"],
  interval: [durationMs, 1000],
  maxQueueingTime: [durationMs, 500, 0],
  clock: [fn<Clock>, () => performance.now(), "a function that returns ms"],
} as const satisfies Schema<ThrottlingOptions>;

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
