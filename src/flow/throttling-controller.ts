import { argumentError, checkKnown } from "../errors.ts";
import { placed } from "../place.ts";
import { type Clock, type Duration, durationMs } from "../time.ts";
import {
  atLeast,
  checkPasses,
  DENY,
  type FlowDecision,
  type FlowNode,
  PASS,
  type TrafficShapingController,
} from "./controller.ts";
import { Pacer } from "./pacer.ts";

export interface ThrottlingOptions {
  /** Passes per `interval`; 0: none. */
  count: number;
  /** Default "1s". */
  interval?: Duration;
  /** Who would wait longer is denied; default "500ms". */
  maxQueueingTime?: Duration;
  /** Ms, fractions too; default `performance.now`. */
  clock?: Clock;
}

/**
 * Uniform queueing: passes `interval / count` apart, whatever comes; a decision says how long to wait. Exact at any rate.
 * What costs no pass (count 0) always passes. O(1). Source: Sentinel's ThrottlingController.
 */
export class ThrottlingController implements TrafficShapingController {
  readonly #msPerPass: number;
  readonly #maxQueueingTimeMs: number;
  readonly #clock: Clock;
  readonly #pacer = new Pacer();

  constructor(options: ThrottlingOptions) {
    const { msPerPass, maxQueueingTimeMs, clock } = placed("ThrottlingController", () => settingsOf(options));
    this.#msPerPass = msPerPass;
    this.#maxQueueingTimeMs = maxQueueingTimeMs;
    this.#clock = clock;
  }

  tryPass(_node?: FlowNode, count = 1): FlowDecision {
    checkPasses(count, "ThrottlingController");
    if (count === 0) return PASS;
    if (this.#msPerPass === Infinity) return DENY;
    return this.#pacer.pass(count * this.#msPerPass, this.#maxQueueingTimeMs, this.#clock());
  }
}

function settingsOf(options: ThrottlingOptions) {
  checkKnown(options, ["count", "interval", "maxQueueingTime", "clock"]);
  const { count, interval = 1000, maxQueueingTime = 500, clock = () => performance.now() } = options;
  if (typeof clock !== "function") throw argumentError("clock", clock, "a function that gives ms");
  const msPerPass = durationMs("interval", interval) / atLeast("count", count, 0, "passes per interval");
  return { msPerPass, maxQueueingTimeMs: durationMs("maxQueueingTime", maxQueueingTime, 0), clock };
}
