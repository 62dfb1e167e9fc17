import { checkKnown } from "../errors.ts";
import { argumentErrorOf, placed } from "../place.ts";
import { type Clock, type Duration, durationMs } from "../time.ts";
import type { BucketDetails } from "./bucket-details.ts";
import { checkCount } from "./cells.ts";
import { MetricWindow, type MetricWindowOptions } from "./metric-window.ts";
import { checkTime } from "./shape.ts";

export interface StatisticNodeOptions extends Pick<MetricWindowOptions, "mode" | "percentiles"> {
  /** Buckets of the short window; default 2. */
  sampleCount?: number;
  /** Length of the short window; default "1s". */
  interval?: Duration;
  /** Passes are booked ahead for less than this; default "500ms". */
  occupyTimeout?: Duration;
  /** Ms since 1970; default `Date.now`. */
  clock?: Clock;
}

const MINUTE = { sampleCount: 60, interval: 60_000 };
const OPTIONS = ["sampleCount", "interval", "occupyTimeout", "mode", "percentiles", "clock"];

/**
 * What is known live of one resource: a short window (1 s), one of a minute in buckets of 1 s, and how many calls are under
 * way. Adds cost some ns; `mode` is "sentinel" unless said otherwise. Source: Sentinel's StatisticNode.
 */
export class StatisticNode {
  readonly second: MetricWindow;
  readonly minute: MetricWindow;
  readonly #clock: Clock;
  readonly #occupyTimeoutMs: number;
  // Not named as an export is: the tool that makes the CommonJS build would take ++ of it for that one.
  #underWay = 0;
  #fetchedMs = -Infinity;

  constructor(options: StatisticNodeOptions = {}) {
    placed("StatisticNode", () => checkKnown(options, OPTIONS));
    const { sampleCount = 2, interval = 1000, occupyTimeout = 500, clock = Date.now } = options;
    const { mode = "sentinel", percentiles = false } = options;
    this.second = new MetricWindow({ sampleCount, interval, mode, clock });
    this.minute = new MetricWindow({ ...MINUTE, mode, clock, percentiles });
    this.#clock = clock;
    this.#occupyTimeoutMs = placed("StatisticNode", () => durationMs("occupyTimeout", occupyTimeout, 0));
  }

  /** Calls under way. */
  get concurrency(): number {
    return this.#underWay;
  }

  increaseConcurrency(): void {
    this.#underWay++;
  }
  decreaseConcurrency(): void {
    this.#underWay--;
  }

  addAllowed(count = 1): void {
    const nowMs = this.#clock();
    this.second.addAllowed(count, nowMs);
    this.minute.addAllowed(count, nowMs);
  }
  addDenied(count = 1): void {
    const nowMs = this.#clock();
    this.second.addDenied(count, nowMs);
    this.minute.addDenied(count, nowMs);
  }
  addFailure(count = 1): void {
    const nowMs = this.#clock();
    this.second.addFailure(count, nowMs);
    this.minute.addFailure(count, nowMs);
  }
  /** One success with its response time in ms. */
  recordSuccess(latencyMs: number): void {
    this.second.recordSuccess(latencyMs);
    this.minute.recordSuccess(latencyMs);
  }

  /** One failure. */
  recordFailure(): void {
    this.addFailure();
  }

  allowedPerSecond(): number {
    return this.second.allowedPerSecond();
  }
  /** Passes of the whole second before the present one. */
  previousAllowedPerSecond(): number {
    return this.minute.previous()?.allowed ?? 0;
  }
  /** Most successes in one bucket of the short window, as a rate per second. */
  maxSuccessesPerSecond(): number {
    const { second } = this;
    return (second.maxSuccess() * second.sampleCount * 1000) / second.intervalMs;
  }
  /** Passed and blocked within the last minute. */
  totalRequest(): number {
    return this.minute.allowed() + this.minute.denied();
  }

  /**
   * Ms until `count` passes may be let in at the expense of buckets to come, so that no window holds more than `threshold`
   * a second; Infinity where that is not within the occupy timeout. Books nothing. O(buckets squared).
   */
  tryOccupyNext(count: number, threshold: number, nowMs = this.#clock()): number {
    checkCount(count, "StatisticNode");
    checkNumber("threshold", threshold);
    checkTime(nowMs, "StatisticNode");
    const { second } = this;
    const lengthMs = second.intervalMs / second.sampleCount;
    const most = (threshold * second.intervalMs) / 1000;
    const waiting = second.waiting(nowMs);
    if (waiting >= most) return Infinity;
    let allowed = second.allowed(nowMs);
    const startMs = nowMs - (nowMs % lengthMs);
    // The oldest bucket leaves the window when the next one begins, and so on.
    for (let leavesMs = startMs + lengthMs; leavesMs - nowMs < this.#occupyTimeoutMs; leavesMs += lengthMs) {
      if (leavesMs - second.intervalMs >= nowMs) break;
      const leaving = second.bucketAllowed(leavesMs - second.intervalMs);
      allowed -= leaving;
      if (allowed + waiting + count <= most) return leavesMs - nowMs;
    }
    return Infinity;
  }

  /** Books `count` passes `waitMs` ahead, as `tryOccupyNext` allowed. The minute counts them at once. */
  occupy(count: number, waitMs: number, nowMs = this.#clock()): void {
    checkNumber("waitMs", waitMs);
    checkTime(nowMs, "StatisticNode");
    this.second.addWaiting(nowMs + waitMs, count);
    this.minute.addBorrowed(count, nowMs);
    this.minute.addAllowed(count, nowMs);
  }

  /** The whole seconds since those of the last call, of the last minute, oldest first; those without any event are left out. */
  newSeconds(): BucketDetails[] {
    const nowMs = this.#clock();
    const endMs = nowMs - (nowMs % 1000);
    const fresh = this.minute
      .details((startMs) => startMs > this.#fetchedMs && startMs < endMs, nowMs)
      .filter(({ success, failure, allowed, denied, borrowed, minLatencyMs }) =>
        [success, failure, allowed, denied, borrowed, minLatencyMs].some((n) => n > 0),
      );
    this.#fetchedMs = fresh.at(-1)?.startMs ?? this.#fetchedMs;
    return fresh;
  }
}

function checkNumber(argument: string, value: number): void {
  if (typeof value !== "number" || !(value >= 0))
    throw argumentErrorOf("StatisticNode", argument, value, "a number, 0 or more");
}
