import { checkKnown } from "../errors.ts";
import {
  atLeast,
  checkPasses,
  type FlowDecision,
  type FlowNode,
  PASS,
  type TrafficShapingController,
} from "./controller.ts";
import { Pacer } from "./pacer.ts";
import { WARM_UP_OPTIONS, WarmUp, type WarmUpOptions } from "./warm-up.ts";

export interface WarmUpThrottlingOptions extends WarmUpOptions {
  /** Who would wait longer is denied; default 500. */
  maxQueueingTimeMs?: number;
}

/**
 * Uniform queueing at a rate that warms up: passes `1 / rate` apart, a decision says how long to wait. O(1).
 * Source: Sentinel's WarmUpRateLimiterController.
 */
export class WarmUpThrottlingController implements TrafficShapingController {
  readonly #warmUp: WarmUp;
  readonly #maxQueueingTimeMs: number;
  readonly #pacer = new Pacer();

  constructor(options: WarmUpThrottlingOptions) {
    checkKnown(options, [...WARM_UP_OPTIONS, "maxQueueingTimeMs"]);
    const { maxQueueingTimeMs = 500 } = options;
    this.#warmUp = new WarmUp(options);
    this.#maxQueueingTimeMs = atLeast("maxQueueingTimeMs", maxQueueingTimeMs, 0, "ms");
  }

  tryPass(node: FlowNode, count = 1): FlowDecision {
    checkPasses(count);
    if (count === 0) return PASS;
    const nowMs = this.#warmUp.clock();
    const rate = this.#warmUp.rate(node.previousAllowedPerSecond(), nowMs);
    return this.#pacer.pass((count * 1000) / rate, this.#maxQueueingTimeMs, nowMs);
  }
}
