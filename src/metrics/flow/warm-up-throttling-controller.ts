import { settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import {
  checkAsked,
  checkPasses,
  type FlowDecision,
  type FlowNode,
  PASS,
  type TrafficShapingController,
} from "./controller.ts";
import { Pacer } from "./pacer.ts";
import { WARM_UP, WarmUp, type WarmUpOptions } from "./warm-up.ts";

/** Options of `WarmUpThrottlingController`. */
export interface WarmUpThrottlingOptions extends WarmUpOptions {
  /** A call that would wait longer is denied; default "500ms". */
  maxQueueingTime?: Duration | undefined;
}

/**
 * Uniform queueing at a rate that warms up. Passes are `1 / rate` apart, and a decision contains the wait. Cost: O(1).
 * Source: Sentinel's WarmUpRateLimiterController.
 */
export class WarmUpThrottlingController implements TrafficShapingController {
  readonly #warmUp: WarmUp;
  readonly #maxQueueingTimeMs: number;
  readonly #pacer = new Pacer();

  constructor(options: WarmUpThrottlingOptions) {
    const settings = atSite("WarmUpThrottlingController", () =>
      settingsOf({ ...WARM_UP, maxQueueingTime: [durationMs, 500, 0] }, options),
    );
    this.#warmUp = new WarmUp(settings);
    this.#maxQueueingTimeMs = settings.maxQueueingTimeMs;
  }

  /** Allows calls at distances that shrink as the resource warms up. */
  tryPass(node: FlowNode, count = 1): FlowDecision {
    checkPasses(count, "WarmUpThrottlingController");
    checkAsked(node, undefined, "WarmUpThrottlingController");
    if (count === 0) return PASS;
    const nowMs = this.#warmUp.clock();
    const rate = this.#warmUp.rate(node.previousAllowedPerSecond(), nowMs);
    return this.#pacer.pass((count * 1000) / rate, this.#maxQueueingTimeMs, nowMs);
  }
}
