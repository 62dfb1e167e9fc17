import { argumentErrorOf, Site } from "../../base/site.ts";
import type { Clock } from "../../base/time.ts";
import { type BucketDetails, CELL, detailsOf } from "./cells.ts";
import type { LatencyPercentileOptions, LatencyPercentiles } from "./latency-percentiles.ts";
import type { LeapMode } from "./leap-array.ts";
import type { MetricRing } from "./metric-ring.ts";
import { checkTime } from "./shape.ts";

/** Sentinel's statisticMaxRt. */
const STATISTIC_MAX_LATENCY_MS = 5000;

/** The data that a window of metrics shares with all its views. */
export interface MetricSource {
  readonly ring: MetricRing;
  readonly mode: LeapMode;
  readonly clock: Clock;
  readonly percentiles: LatencyPercentiles | undefined;
  /** Called before each answer. */
  readonly refresh: (timeMs: number) => void;
}

/**
 * The answers of a window of metrics, over the last `intervalMs` before now or before a given time. A sum covers the
 * buckets that count (see `mode`). The current bucket is incomplete, so the window is up to one bucket shorter than
 * `intervalMs`. For an empty window, counts and sums are 0; averages, extremes and percentiles are NaN.
 * Cost: O(buckets). Source: Sentinel's ArrayMetric and sentinel-golang's SlidingWindowMetric.
 */
export class MetricView {
  readonly sampleCount: number;
  readonly intervalMs: number;
  readonly #source: MetricSource;

  constructor(source: MetricSource, sampleCount: number, intervalMs: number) {
    this.#source = source;
    this.sampleCount = sampleCount;
    this.intervalMs = intervalMs;
  }

  /** Whether `latencyPercentileMs` answers. */
  get hasPercentiles(): boolean {
    return this.#source.percentiles !== undefined;
  }

  success(timeMs = this.#source.clock()): number {
    return this.#sum(CELL.success, timeMs);
  }
  failure(timeMs = this.#source.clock()): number {
    return this.#sum(CELL.failure, timeMs);
  }
  allowed(timeMs = this.#source.clock()): number {
    return this.#sum(CELL.allowed, timeMs);
  }
  denied(timeMs = this.#source.clock()): number {
    return this.#sum(CELL.denied, timeMs);
  }
  borrowed(timeMs = this.#source.clock()): number {
    return this.#sum(CELL.borrowed, timeMs);
  }
  /** Sum of the response times in ms. */
  latencySumMs(timeMs = this.#source.clock()): number {
    return this.#sum(CELL.latencySumMs, timeMs);
  }

  /** Successes per second. */
  successesPerSecond(timeMs = this.#source.clock()): number {
    return this.#perSecond(this.success(timeMs));
  }
  /** Failures per second. */
  failuresPerSecond(timeMs = this.#source.clock()): number {
    return this.#perSecond(this.failure(timeMs));
  }
  allowedPerSecond(timeMs = this.#source.clock()): number {
    return this.#perSecond(this.allowed(timeMs));
  }
  deniedPerSecond(timeMs = this.#source.clock()): number {
    return this.#perSecond(this.denied(timeMs));
  }

  /** Mean response time of a success in ms. Without a success: NaN, or 0 in mode "sentinel". */
  meanLatencyMs(timeMs = this.#source.clock()): number {
    const success = this.success(timeMs);
    return success === 0 ? this.#ifEmpty(0) : this.latencySumMs(timeMs) / success;
  }

  /** Smallest response time in ms; NaN if there is none. Mode "sentinel" limits it to 1 to 5000; 5000 if none. */
  minLatencyMs(timeMs = this.#source.clock()): number {
    const [firstMs, lastMs] = this.#refreshed(timeMs);
    const min = this.#source.ring.minLatencyMs(firstMs, lastMs);
    if (this.#source.mode === "sentinel") return Math.max(1, Math.min(min, STATISTIC_MAX_LATENCY_MS));
    return min === Number.POSITIVE_INFINITY ? Number.NaN : min;
  }

  /** Largest response time in ms. If there is none: NaN, or 0 in mode "sentinel". */
  maxLatencyMs(timeMs = this.#source.clock()): number {
    const max = this.#max(CELL.maxLatencyMs, timeMs);
    return max === Number.NEGATIVE_INFINITY ? this.#ifEmpty(0) : max;
  }

  /** Largest number of successes in one bucket; in mode "sentinel" at least 1. */
  maxSuccess(timeMs = this.#source.clock()): number {
    return Math.max(this.#source.mode === "sentinel" ? 1 : 0, this.#max(CELL.success, timeMs));
  }

  /** Largest number of passes in one bucket. */
  maxAllowed(timeMs = this.#source.clock()): number {
    return Math.max(0, this.#max(CELL.allowed, timeMs));
  }

  /** Passes in the bucket of `timeMs`; 0 if there is none. */
  bucketAllowed(timeMs: number): number {
    const { ring } = this.#source;
    const startMs = ring.startOf(timeMs);
    return ring.sum(CELL.allowed, startMs, startMs);
  }

  /** The bucket before that of `timeMs`; undefined if it has no events, or a later bucket has its slot. */
  previous(timeMs = this.#source.clock()): BucketDetails | undefined {
    const { ring, refresh } = this.#source;
    checkTime(timeMs, "MetricView");
    refresh(timeMs);
    const startMs = ring.startOf(timeMs) - ring.lengthMs;
    return this.#detailsFrom(startMs, startMs)[0];
  }

  /** The buckets that count, oldest first. `isWanted` selects them by their start; default: all. */
  details(isWanted: (startMs: number) => boolean = () => true, timeMs = this.#source.clock()): BucketDetails[] {
    if (typeof isWanted !== "function")
      throw argumentErrorOf("MetricView", "isWanted", isWanted, "a function of a bucket's start");
    return this.#detailsFrom(...this.#refreshed(timeMs)).filter(({ startMs }) => isWanted(startMs));
  }

  /** The buckets that count from the one of `sinceMs` on, oldest first. */
  windowsSince(sinceMs: number, timeMs = this.#source.clock()): BucketDetails[] {
    const firstMs = this.#source.ring.startOf(sinceMs);
    return this.details((startMs) => startMs >= firstMs, timeMs);
  }

  /**
   * Exact percentile (0 to 100) of the response times; NaN if there are none. Throws ARGUMENT without the option
   * `percentiles` of MetricWindow. A view of a fleet has no percentiles: call `FleetMetrics.latencyPercentilesMs`.
   * After the clock stepped back, events more than one interval before the latest bucket are left out.
   * Cost: some ns per event that entered or left since the last query; otherwise a selection over sorted runs.
   */
  latencyPercentileMs(p: number, options: LatencyPercentileOptions = {}): number {
    const { percentiles, ring, clock } = this.#source;
    if (!percentiles)
      throw argumentErrorOf(
        "MetricView",
        "percentiles",
        undefined,
        "true in the options of MetricWindow; for a fleet call its latencyPercentilesMs",
      );
    const timeMs = clock();
    const [, lastMs] = this.startRange(timeMs);
    return new Site("MetricView").checked("latencyPercentileMs", () =>
      percentiles.percentile(p, ring.startOf(timeMs), this.intervalMs, lastMs === Number.POSITIVE_INFINITY, options),
    );
  }

  /** Starts of the oldest and the newest bucket that count at `timeMs`. All buckets between them count too. */
  startRange(timeMs: number): [firstMs: number, lastMs: number] {
    checkTime(timeMs, "MetricView");
    const { ring, mode } = this.#source;
    if (mode === "sentinel" && this.intervalMs === ring.intervalMs)
      return [timeMs - this.intervalMs, Number.POSITIVE_INFINITY];
    const lastMs = ring.startOf(timeMs);
    return [lastMs - this.intervalMs + ring.lengthMs, lastMs];
  }

  #refreshed(timeMs: number): [firstMs: number, lastMs: number] {
    const range = this.startRange(timeMs);
    this.#source.refresh(timeMs);
    return range;
  }

  #sum(cell: number, timeMs: number): number {
    return this.#source.ring.sum(cell, ...this.#refreshed(timeMs));
  }

  #max(cell: number, timeMs: number): number {
    return this.#source.ring.max(cell, ...this.#refreshed(timeMs));
  }

  #perSecond(count: number): number {
    return (count * 1000) / this.intervalMs;
  }

  #ifEmpty(sentinel: number): number {
    return this.#source.mode === "sentinel" ? sentinel : Number.NaN;
  }

  #detailsFrom(firstMs: number, lastMs: number): BucketDetails[] {
    return this.#source.ring.rows(firstMs, lastMs).map(({ startMs, row }) => detailsOf(startMs, row));
  }
}
