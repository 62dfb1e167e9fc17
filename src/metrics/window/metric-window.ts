import { argumentError } from "../../base/errors.ts";
import { CLOCK, given, oneOf, type Schema, settingsOf } from "../../base/options.ts";
import { atSite, Site } from "../../base/site.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import { addCount, CELL, checkCount, checkLatency, updateExtremes } from "./cells.ts";
import { LatencyPercentiles, type LatencySeriesOptions } from "./latency-percentiles.ts";
import type { LeapMode } from "./leap-array.ts";
import { LOOKUP_TIME, MetricRing } from "./metric-ring.ts";
import { MetricView } from "./metric-view.ts";
import { bucketLengthMs, checkTime } from "./shape.ts";

// Local copies: the compiler treats a module's own names as constants, but looks up imported names at every record.
const { success: SUCCESS, latencySumMs: LATENCY_SUM, minLatencyMs: MIN_LATENCY, maxLatencyMs: MAX_LATENCY } = CELL;
const LOOKED_UP_AT = LOOKUP_TIME;

/** Options of `MetricWindow`. */
export interface MetricWindowOptions {
  /** Buckets that divide `interval` evenly. */
  sampleCount: number;
  interval: Duration;
  /**
   * "exact" (default): answers cover the last `sampleCount` buckets, up to now.
   * "sentinel": answers equal those of Sentinel's ArrayMetric; see `LeapMode`.
   */
  mode?: Exclude<LeapMode, "future"> | undefined;
  /** Ms since 1970; default `Date.now`. An event before 1970 counts as late. */
  clock?: Clock | undefined;
  /** Keeps response times for `latencyPercentileMs`, 22 bytes each (14 with `values: "float32"`); default false. */
  percentiles?: boolean | LatencySeriesOptions | undefined;
}

/**
 * Live metrics of one process over the last `interval`, in `sampleCount` buckets. It uses typed arrays and no timers.
 * An add is O(1), takes some ns and allocates nothing; an answer is O(buckets). If a later bucket has taken the slot of
 * an event's bucket, the event counts in `lateCount` only. Throws ARGUMENT for a count that is not a whole number >= 0
 * and for a latency that is not a finite number >= 0. With `percentiles`, throws OVERLOADED above its `maxBytes`.
 * Source: Sentinel's LeapArray and ArrayMetric.
 */
export class MetricWindow extends MetricView {
  readonly #ring: MetricRing;
  readonly #current: Float64Array;
  readonly #clock: Clock;
  readonly #percentiles: LatencyPercentiles | undefined;
  readonly #view: (sampleCount: number, intervalMs: number) => MetricView;
  #booked: BookedPasses | undefined;

  constructor(options: MetricWindowOptions) {
    const { sampleCount, intervalMs, mode, clock, percentiles } = atSite("MetricWindow", () =>
      settingsOf(WINDOW, options),
    );
    const ring = new MetricRing(sampleCount, intervalMs, !percentiles);
    const source = {
      ring,
      mode,
      clock,
      percentiles: percentiles
        ? atSite(
            "MetricWindow",
            () => new LatencyPercentiles(intervalMs, percentiles === true ? {} : percentiles, clock),
          )
        : undefined,
      refresh: (timeMs: number) => {
        this.#booked?.settle(timeMs);
        // A read in Sentinel advances the ring first. A read in "exact" mode does not change the ring.
        if (mode === "sentinel") ring.turn(timeMs);
      },
    };
    super(source, sampleCount, intervalMs);
    this.#ring = ring;
    this.#current = ring.current;
    this.#clock = clock;
    this.#percentiles = source.percentiles;
    this.#view = (count, spanMs) => new MetricView(source, count, spanMs);
  }

  /** Number of adds that came too late to count. */
  get lateCount(): number {
    return this.#ring.lateCount;
  }

  /** Counts calls that succeeded in the bucket of this time. */
  addSuccess(count = 1, timeMs = this.#clock()): void {
    this.#add(CELL.success, count, timeMs);
  }
  /** Counts calls that failed in the bucket of this time. */
  addFailure(count = 1, timeMs = this.#clock()): void {
    this.#add(CELL.failure, count, timeMs);
  }
  /** Counts calls that passed in the bucket of this time. */
  addAllowed(count = 1, timeMs = this.#clock()): void {
    this.#add(CELL.allowed, count, timeMs);
  }
  /** Counts calls that were denied in the bucket of this time. */
  addDenied(count = 1, timeMs = this.#clock()): void {
    this.#add(CELL.denied, count, timeMs);
  }
  /** Counts passes that were allowed on account of a future bucket. */
  addBorrowed(count = 1, timeMs = this.#clock()): void {
    this.#add(CELL.borrowed, count, timeMs);
  }

  /** Records one response time in ms, without a success. */
  addLatency(latencyMs: number, timeMs = this.#clock()): void {
    this.#addLatency(latencyMs, timeMs, 0);
  }

  /** Records one success with its response time in ms: `addSuccess(1)` and `addLatency(latencyMs)` in one call. */
  recordSuccess(latencyMs: number, timeMs = this.#clock()): void {
    const current = this.#current;
    // Fast path: at the instant of the last record, a latency between the extremes does not need a lookup or a check.
    const isPlain = timeMs === current[LOOKED_UP_AT];
    if (isPlain && latencyMs >= (current[MIN_LATENCY] as number) && latencyMs <= (current[MAX_LATENCY] as number)) {
      current[SUCCESS] = (current[SUCCESS] as number) + 1;
      current[LATENCY_SUM] = (current[LATENCY_SUM] as number) + latencyMs;
    } else this.#addLatency(latencyMs, timeMs, 1);
  }

  /** Records one failure, without a response time: quick failures would lower the mean. */
  recordFailure(): void {
    this.#add(CELL.failure, 1, this.#clock());
  }

  /** Books passes in the bucket of `timeMs`; the bucket starts with them. `waiting` returns the passes of future buckets. */
  addWaiting(timeMs: number, count: number): void {
    checkCount(count, "MetricWindow");
    this.#booked ??= new BookedPasses(this.#ring);
    this.#booked.settle(this.#clock());
    if (!this.#booked.book(timeMs, count)) this.#ring.lateCount++;
  }

  /** Passes booked in buckets that begin after `timeMs`. */
  waiting(timeMs = this.#clock()): number {
    checkTime(timeMs, "MetricWindow");
    return this.#booked?.waiting(timeMs) ?? 0;
  }

  /**
   * Returns a view of the same events over a smaller window. A view stores no data of its own.
   * Throws ARGUMENT if its interval is longer than this one, or its bucket length is not a multiple of this one's.
   */
  view(options: { sampleCount: number; interval: Duration }): MetricView {
    return new Site("MetricWindow").checked("view", () => {
      const { sampleCount, intervalMs } = settingsOf(VIEW, options);
      const lengthMs = bucketLengthMs(sampleCount, intervalMs, "MetricWindow");
      if (intervalMs > this.intervalMs) throw argumentError("interval", intervalMs, `at most ${this.intervalMs} ms`);
      if (lengthMs % this.#ring.lengthMs !== 0)
        throw argumentError("sampleCount", sampleCount, `for buckets of a multiple of ${this.#ring.lengthMs} ms`);
      return this.#view(sampleCount, intervalMs);
    });
  }

  #add(cell: number, count: number, timeMs: number): void {
    checkCount(count, "MetricWindow");
    if (timeMs === this.#current[LOOKUP_TIME] || this.#ring.seek(timeMs))
      addCount(this.#current, cell, count, "MetricWindow");
  }

  #addLatency(latencyMs: number, timeMs: number, successes: number): void {
    checkLatency(latencyMs, "MetricWindow");
    const current = this.#current;
    if (timeMs !== current[LOOKED_UP_AT] && !this.#ring.seek(timeMs)) return;
    this.#percentiles?.record(latencyMs, this.#ring.startOf(timeMs));
    updateExtremes(current, 0, latencyMs, "MetricWindow");
    current[SUCCESS] = (current[SUCCESS] as number) + successes;
    current[LATENCY_SUM] = (current[LATENCY_SUM] as number) + latencyMs;
  }
}

const WINDOW = {
  sampleCount: [given<number>],
  interval: [durationMs],
  mode: [oneOf, "exact", "exact", "sentinel"],
  clock: CLOCK,
  percentiles: [percentilesOf, false],
} as const satisfies Schema<MetricWindowOptions>;
const VIEW = { sampleCount: [given<number>], interval: [durationMs] } as const;

function percentilesOf(argument: string, percentiles: boolean | LatencySeriesOptions) {
  if (typeof percentiles !== "boolean" && (typeof percentiles !== "object" || percentiles === null))
    throw argumentError(argument, percentiles, "true, false or { values, maxBytes }");
  return percentiles;
}

/**
 * Passes booked in future buckets, one count per slot. When a booked bucket begins, its count starts with them, even if
 * no call is made during the bucket. Source: Sentinel's OccupiableBucketLeapArray, which loses the booked passes of a
 * bucket without calls.
 */
export class BookedPasses {
  readonly #ring: MetricRing;
  readonly #starts: Float64Array;
  readonly #passes: Float64Array;

  constructor(ring: MetricRing) {
    this.#ring = ring;
    this.#starts = new Float64Array(ring.sampleCount).fill(Number.NEGATIVE_INFINITY);
    this.#passes = new Float64Array(ring.sampleCount);
  }

  /** Returns false if the slot has unsettled passes of another bucket, or if the time is before 1970. */
  book(timeMs: number, count: number): boolean {
    const startMs = this.#ring.startOf(timeMs);
    const slot = this.#ring.slotOf(startMs);
    if (startMs < 0 || (startMs !== this.#starts[slot] && this.#passes[slot] !== 0)) return false;
    this.#starts[slot] = startMs;
    this.#passes[slot] = (this.#passes[slot] as number) + count;
    return true;
  }

  /** Passes booked in buckets that begin after `nowMs`. */
  waiting(nowMs: number): number {
    let sum = 0;
    for (const [slot, startMs] of this.#starts.entries()) if (startMs > nowMs) sum += this.#passes[slot] as number;
    return sum;
  }

  /** Moves the passes of the buckets that have begun into the ring. */
  settle(nowMs: number): void {
    for (const [slot, startMs] of this.#starts.entries()) {
      if (startMs > nowMs || this.#passes[slot] === 0) continue;
      if (this.#ring.seek(startMs))
        addCount(this.#ring.current, CELL.allowed, this.#passes[slot] as number, "MetricWindow");
      this.#passes[slot] = 0;
    }
  }
}
