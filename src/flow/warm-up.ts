import { argumentError } from "../errors.ts";
import { type Clock, type Duration, durationMs } from "../time.ts";

export interface WarmUpOptions {
  /** Passes a second when warm; more than 0. */
  count: number;
  /** How long a cold resource takes to be warm. */
  warmUpPeriod: Duration;
  /** A cold resource lets in `count / coldFactor` a second; more than 1, default 3. */
  coldFactor?: number;
  /** Ms since 1970, the node's; default `Date.now`. */
  clock?: Clock;
}

export const WARM_UP_OPTIONS = ["count", "warmUpPeriod", "coldFactor", "clock"];

/**
 * A store of tokens that an idle resource fills and passes empty: the more there are above the warning line, the fewer a
 * second may pass. In real numbers: Sentinel's are whole, which for a count of 1 and a period of 1 s leaves no room between
 * line and brim and denies everything. Source: Sentinel's WarmUpController, after Guava's SmoothWarmingUp.
 */
export class WarmUp {
  readonly count: number;
  readonly clock: Clock;
  readonly #coldFactor: number;
  readonly #warningTokens: number;
  readonly #maxTokens: number;
  #tokens: number;
  #filledMs = -Infinity;
  #usedMs = -Infinity;

  constructor({ count, warmUpPeriod, coldFactor = 3, clock = Date.now }: WarmUpOptions) {
    if (typeof clock !== "function") throw argumentError("clock", clock, "a function that gives ms since 1970");
    if (!(Number.isFinite(count) && count > 0))
      throw argumentError("count", count, "a number of passes a second, above 0");
    if (!(Number.isFinite(coldFactor) && coldFactor > 1))
      throw argumentError("coldFactor", coldFactor, "a number above 1");
    this.count = count;
    this.clock = clock;
    this.#coldFactor = coldFactor;
    const passes = (count * durationMs("warmUpPeriod", warmUpPeriod)) / 1000;
    this.#warningTokens = passes / (coldFactor - 1);
    this.#maxTokens = this.#warningTokens + (2 * passes) / (1 + coldFactor);
    this.#tokens = this.#maxTokens;
  }

  /** Passes a second that are allowed now; `previousPerSecond`: those of the second before, which took their tokens. */
  rate(previousPerSecond: number, nowMs: number): number {
    this.#sync(previousPerSecond, nowMs);
    const above = this.#tokens - this.#warningTokens;
    if (above <= 0) return this.count;
    const slope = (this.#coldFactor - 1) / this.count / (this.#maxTokens - this.#warningTokens);
    return 1 / (above * slope + 1 / this.count);
  }

  /** Once a second. A clock that stepped back fills nothing. */
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
   * At and above the line only a resource that is hardly used cools down: less than one that is cold lets in. Where that is
   * less than a pass a second, one that had none for longer than two passes are apart.
   */
  #isIdle(previousPerSecond: number, secondMs: number): boolean {
    const coldRate = this.count / this.#coldFactor;
    return coldRate >= 1 ? previousPerSecond < Math.floor(coldRate) : secondMs - this.#usedMs > 1000 / coldRate;
  }
}
