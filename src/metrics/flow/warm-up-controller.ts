import { settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import {
  checkAsked,
  checkPasses,
  DENY,
  type FlowDecision,
  type FlowNode,
  PASS,
  type TrafficShapingController,
} from "./controller.ts";
import { WARM_UP, WarmUp, type WarmUpOptions } from "./warm-up.ts";

/**
 * Denies calls above a rate that warms up. In use, it rises from `count / coldFactor` passes per second to `count`;
 * idle, it falls again. A call with more passes than the rate of one second is allowed when that rate has produced as
 * many. At 1/3 per second, one pass is allowed every 3 s. Cost: O(1). Source: Sentinel's WarmUpController.
 */
export class WarmUpController implements TrafficShapingController {
  readonly #warmUp: WarmUp;
  #passedMs = Number.NEGATIVE_INFINITY;

  constructor(options: WarmUpOptions) {
    this.#warmUp = atSite("WarmUpController", () => new WarmUp(settingsOf(WARM_UP, options)));
  }

  /** Allows the call if the rate is below what the resource's warmth permits. */
  tryPass(node: FlowNode, count = 1): FlowDecision {
    checkPasses(count, "WarmUpController");
    checkAsked(node, undefined, "WarmUpController");
    const nowMs = this.#warmUp.clock();
    const rate = this.#warmUp.rate(node.previousAllowedPerSecond(), nowMs);
    const used = node.allowedPerSecond();
    // The rate is a rounded quotient, so an exact fit may be off by its last bit.
    const fits = used + count <= rate * (1 + Number.EPSILON);
    if (!fits && !(used === 0 && count <= this.#warmUp.count && this.#isDue(count, rate, nowMs))) return DENY;
    this.#passedMs = nowMs;
    return PASS;
  }

  /** A call is due at once if the clock went back, so that no call waits for the clock to catch up. */
  #isDue(count: number, rate: number, nowMs: number): boolean {
    return nowMs < this.#passedMs || nowMs - this.#passedMs >= (count * 1000) / rate;
  }
}
