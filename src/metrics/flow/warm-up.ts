import { argumentError } from "../../base/errors.ts";
import { CLOCK, type Schema, type SettingsOf, settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import {
  checkAsked,
  checkPasses,
  DENY,
  type FlowDecision,
  type FlowNode,
  PASS,
  type TrafficShapingController,
} from "./controller.ts";
import { Pacer } from "./throttling-controller.ts";

/** Options of `WarmUpController`. */
export interface WarmUpOptions {
  /** Passes per second of a warm resource; more than 0. */
  count: number;
  /** Time that a cold resource needs to warm up. */
  warmUpPeriod: Duration;
  /** A cold resource allows `count / coldFactor` passes per second; more than 1, default 3. */
  coldFactor?: number | undefined;
  /** Ms since 1970; must be the node's clock. Default `Date.now`. */
  clock?: Clock | undefined;
}

export const WARM_UP = {
  count: [above, undefined, 0, "a number of passes a second, above 0"],
  warmUpPeriod: [durationMs],
  coldFactor: [above, 3, 1, "a number above 1"],
  clock: CLOCK,
} as const satisfies Schema<WarmUpOptions>;

function above(argument: string, value: number, least: number, allowed: string): number {
  if (!(Number.isFinite(value) && value > least)) throw argumentError(argument, value, allowed);
  return value;
}

/**
 * A token bucket that fills while the resource is idle and empties as calls pass. The more tokens are above the warning
 * line, the lower the rate. Tokens are real numbers. Sentinel uses integers, so with a count of 1 and a period of 1 s
 * its line and its maximum are equal, and every call is denied.
 * Source: Sentinel's WarmUpController, after Guava's SmoothWarmingUp.
 */
export class WarmUp {
  readonly count: number;
  readonly clock: Clock;
  readonly #coldFactor: number;
  readonly #warningTokens: number;
  readonly #maxTokens: number;
  #tokens: number;
  #filledMs = Number.NEGATIVE_INFINITY;
  #usedMs = Number.NEGATIVE_INFINITY;

  constructor({ count, warmUpPeriodMs, coldFactor, clock }: SettingsOf<typeof WARM_UP>) {
    this.count = count;
    this.clock = clock;
    this.#coldFactor = coldFactor;
    const passes = (count * warmUpPeriodMs) / 1000;
    this.#warningTokens = passes / (coldFactor - 1);
    this.#maxTokens = this.#warningTokens + (2 * passes) / (1 + coldFactor);
    this.#tokens = this.#maxTokens;
  }

  /** The allowed passes per second now. The `previousPerSecond` passes of the last second each took one token. */
  rate(previousPerSecond: number, nowMs: number): number {
    this.#sync(previousPerSecond, nowMs);
    const above = this.#tokens - this.#warningTokens;
    if (above <= 0) return this.count;
    const slope = (this.#coldFactor - 1) / this.count / (this.#maxTokens - this.#warningTokens);
    return 1 / (above * slope + 1 / this.count);
  }

  /** Adds and removes tokens once per second. A clock that went back adds none. */
  #sync(previousPerSecond: number, nowMs: number): void {
    const secondMs = nowMs - (nowMs % 1000);
    const elapsedMs = secondMs - this.#filledMs;
    this.#filledMs = secondMs;
    if (elapsedMs <= 0) return;
    if (previousPerSecond > 0) this.#usedMs = secondMs;
    if (this.#tokens < this.#warningTokens || this.#isIdle(previousPerSecond, secondMs))
      this.#tokens = Math.min(this.#maxTokens, this.#tokens + (elapsedMs * this.count) / 1000);
    this.#tokens = Math.max(0, this.#tokens - previousPerSecond);
  }

  /**
   * At and above the line, tokens are added only while the resource is used less than its cold rate. If the cold rate
   * is below one pass per second, the resource must have had no pass for longer than the cold rate's interval.
   */
  #isIdle(previousPerSecond: number, secondMs: number): boolean {
    const coldRate = this.count / this.#coldFactor;
    return coldRate >= 1 ? previousPerSecond < Math.floor(coldRate) : secondMs - this.#usedMs > 1000 / coldRate;
  }
}

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
