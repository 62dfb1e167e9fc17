import { checkKnown } from "../../base/errors.ts";
import { argumentErrorOf, atSite } from "../../base/site.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import { type BucketDetails, checkCount } from "./cells.ts";
import { MetricWindow, type MetricWindowOptions } from "./metric-window.ts";
import { checkTime } from "./shape.ts";

/** Options of `StatisticNode`. */
export interface StatisticNodeOptions extends Pick<MetricWindowOptions, "mode" | "percentiles"> {
  /** Buckets of the short window; default 2. */
  sampleCount?: number | undefined;
  /** Length of the short window; default "1s". */
  interval?: Duration | undefined;
  /** Passes are booked less than this far ahead; default "500ms". */
  occupyTimeout?: Duration | undefined;
  /** Ms since 1970; default `Date.now`. */
  clock?: Clock | undefined;
}

const MINUTE = { sampleCount: 60, interval: 60_000 };
const OPTIONS = ["sampleCount", "interval", "occupyTimeout", "mode", "percentiles", "clock"];

/**
 * Live statistics of one resource: a short window (default 1 s), a window of one minute in buckets of 1 s, and the
 * number of calls in progress. An add takes some ns. The default `mode` is "sentinel".
 * Source: Sentinel's StatisticNode.
 */
export class StatisticNode {
  readonly second: MetricWindow;
  readonly minute: MetricWindow;
  readonly #clock: Clock;
  readonly #occupyTimeoutMs: number;
  // The name must differ from every export: the CommonJS build tool would treat ++ on it as a change of that export.
  #inProgress = 0;
  #fetchedMs = Number.NEGATIVE_INFINITY;

  constructor(options: StatisticNodeOptions = {}) {
    atSite("StatisticNode", () => checkKnown(options, OPTIONS));
    const { sampleCount = 2, interval = 1000, occupyTimeout = 500, clock = Date.now } = options;
    const { mode = "sentinel", percentiles = false } = options;
    this.second = new MetricWindow({ sampleCount, interval, mode, clock });
    this.minute = new MetricWindow({ ...MINUTE, mode, clock, percentiles });
    this.#clock = clock;
    this.#occupyTimeoutMs = atSite("StatisticNode", () => durationMs("occupyTimeout", occupyTimeout, 0));
  }

  /** Number of calls in progress. */
  get concurrency(): number {
    return this.#inProgress;
  }

  /** Counts a call that begins. */
  increaseConcurrency(): void {
    this.#inProgress++;
  }
  /** Counts a call that has ended. */
  decreaseConcurrency(): void {
    this.#inProgress--;
  }

  /** Counts calls that passed, in both windows. */
  addAllowed(count = 1): void {
    const nowMs = this.#clock();
    this.second.addAllowed(count, nowMs);
    this.minute.addAllowed(count, nowMs);
  }
  /** Counts calls that were denied, in both windows. */
  addDenied(count = 1): void {
    const nowMs = this.#clock();
    this.second.addDenied(count, nowMs);
    this.minute.addDenied(count, nowMs);
  }
  /** Counts calls that failed, in both windows. */
  addFailure(count = 1): void {
    const nowMs = this.#clock();
    this.second.addFailure(count, nowMs);
    this.minute.addFailure(count, nowMs);
  }
  /** Records one success with its response time in ms. */
  recordSuccess(latencyMs: number): void {
    this.second.recordSuccess(latencyMs);
    this.minute.recordSuccess(latencyMs);
  }

  /** Records one failure. */
  recordFailure(): void {
    this.addFailure();
  }

  /** Calls that passed, per second of the short window. */
  allowedPerSecond(): number {
    return this.second.allowedPerSecond();
  }
  /** Passes in the last complete second. */
  previousAllowedPerSecond(): number {
    return this.minute.previous()?.allowed ?? 0;
  }
  /** The largest number of successes in one bucket of the short window, as a rate per second. */
  maxSuccessesPerSecond(): number {
    const { second } = this;
    return (second.maxSuccess() * second.sampleCount * 1000) / second.intervalMs;
  }
  /** Allowed and denied calls within the last minute. */
  totalRequest(): number {
    return this.minute.allowed() + this.minute.denied();
  }

  /**
   * Returns the wait in ms until `count` more passes fit into the short window, at `threshold` passes per second.
   * Returns Infinity if they do not fit within the occupy timeout. Books nothing. Cost: O(buckets squared).
   */
  tryOccupyNext(count: number, threshold: number, nowMs = this.#clock()): number {
    checkCount(count, "StatisticNode");
    checkNumber("threshold", threshold);
    checkTime(nowMs, "StatisticNode");
    const { second } = this;
    const lengthMs = second.intervalMs / second.sampleCount;
    const maxPasses = (threshold * second.intervalMs) / 1000;
    const waiting = second.waiting(nowMs);
    if (waiting >= maxPasses) return Number.POSITIVE_INFINITY;
    let allowed = second.allowed(nowMs);
    const startMs = nowMs - (nowMs % lengthMs);
    // Each new bucket pushes the oldest one out of the window.
    for (let leavesMs = startMs + lengthMs; leavesMs - nowMs < this.#occupyTimeoutMs; leavesMs += lengthMs) {
      if (leavesMs - second.intervalMs >= nowMs) break;
      const leaving = second.bucketAllowed(leavesMs - second.intervalMs);
      allowed -= leaving;
      if (allowed + waiting + count <= maxPasses) return leavesMs - nowMs;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Books `count` passes `waitMs` ahead, the wait from `tryOccupyNext`. The minute window counts them at once. */
  occupy(count: number, waitMs: number, nowMs = this.#clock()): void {
    checkNumber("waitMs", waitMs);
    checkTime(nowMs, "StatisticNode");
    this.second.addWaiting(nowMs + waitMs, count);
    this.minute.addBorrowed(count, nowMs);
    this.minute.addAllowed(count, nowMs);
  }

  /** Returns the complete seconds of the last minute since the last call, oldest first. Empty seconds are left out. */
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
