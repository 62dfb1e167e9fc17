import { argumentError } from "../../base/errors.ts";
import { fn, type Schema, type SettingsOf } from "../../base/options.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";

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
  clock: [fn<Clock>, () => Date.now(), "a function that returns ms since 1970"],
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
