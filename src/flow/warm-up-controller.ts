import { checkKnown } from "../errors.ts";
import { placed } from "../place.ts";
import {
  checkAsked,
  checkPasses,
  DENY,
  type FlowDecision,
  type FlowNode,
  PASS,
  type TrafficShapingController,
} from "./controller.ts";
import { WARM_UP_OPTIONS, WarmUp, type WarmUpOptions } from "./warm-up.ts";

/**
 * Denies what is more than a rate that rises, while it is used, from `count / coldFactor` passes a second to `count`, and
 * falls again when it is not. Where the rate is less than the call asks for, one passes when the rate has it due: every
 * 3 s at 1/3 a second. O(1). Source: Sentinel's WarmUpController.
 */
export class WarmUpController implements TrafficShapingController {
  readonly #warmUp: WarmUp;
  #passedMs = -Infinity;

  constructor(options: WarmUpOptions) {
    this.#warmUp = placed("WarmUpController", () => {
      checkKnown(options, WARM_UP_OPTIONS);
      return new WarmUp(options);
    });
  }

  tryPass(node: FlowNode, count = 1): FlowDecision {
    checkPasses(count, "WarmUpController");
    checkAsked(node, undefined, "WarmUpController");
    const nowMs = this.#warmUp.clock();
    const rate = this.#warmUp.rate(node.previousAllowedPerSecond(), nowMs);
    const used = node.allowedPerSecond();
    // A rate is a quotient: what is due exactly may miss it by its last bit.
    const fits = used + count <= rate * (1 + Number.EPSILON);
    if (!fits && !(used === 0 && count <= this.#warmUp.count && this.#isDue(count, rate, nowMs))) return DENY;
    this.#passedMs = nowMs;
    return PASS;
  }

  /** A clock that stepped back makes it due: nobody waits for it to catch up. */
  #isDue(count: number, rate: number, nowMs: number): boolean {
    return nowMs < this.#passedMs || nowMs - this.#passedMs >= (count * 1000) / rate;
  }
}
