import { checkKnown } from "../../base/errors.ts";
import type { Clock } from "../../base/time.ts";
import type { PercentileMethod } from "../../engine/kernel/percentile/percentile.ts";
import { LocalSeries } from "../../engine/stats/local-series.ts";
import type { LocalSeriesOptions } from "../../engine/stats/local-series-options.ts";

/** How a window keeps its response times. */
export type LatencySeriesOptions = Pick<LocalSeriesOptions, "values" | "maxBytes">;

/** How a percentile of response times is computed. */
export interface LatencyPercentileOptions {
  /** One of NumPy's 13 methods; default "linear". */
  method?: PercentileMethod | undefined;
}

/**
 * The latencies of a ring of buckets, in a LocalSeries. Each latency has the time of its bucket's start, so that ring
 * and series cover the same events. The time of the series is the latest bucket's start, and never goes back. If the
 * clock goes back by an interval or more, the series starts empty: no recorded event is inside a window of that time.
 */
export class LatencyPercentiles {
  readonly #intervalMs: number;
  readonly #options: LatencySeriesOptions;
  readonly #clock: Clock;
  #latestMs = Number.NEGATIVE_INFINITY;
  #series: LocalSeries;

  constructor(intervalMs: number, options: LatencySeriesOptions, clock: Clock) {
    checkKnown(options, ["values", "maxBytes"], "percentiles");
    this.#intervalMs = intervalMs;
    this.#clock = clock;
    const own = { ...options };
    this.#options = { ...own, values: own.values ?? "float64" };
    this.#series = this.#begin();
  }

  /** Skips an event an interval or more older than the latest. If the clock went back, the series restarts instead. */
  record(latencyMs: number, startMs: number): void {
    if (startMs <= this.#latestMs - this.#intervalMs) {
      if (this.#clock() - startMs >= this.#intervalMs) return;
      this.#restart();
    }
    if (startMs >= this.#latestMs) {
      this.#latestMs = startMs;
      this.#series.record(latencyMs);
    } else this.#series.record(latencyMs, { at: startMs });
  }

  /** Covers the buckets that start after `nowMs - spanMs`, up to `nowMs` or, with `isOpen`, up to the latest bucket. */
  percentile(p: number, nowMs: number, spanMs: number, isOpen: boolean, options: LatencyPercentileOptions): number {
    checkKnown(options, ["method"]);
    if (nowMs <= this.#latestMs - this.#intervalMs) this.#restart();
    if (nowMs > this.#latestMs) this.#latestMs = nowMs;
    const { method = "linear" } = options;
    const fromMs = Math.max(nowMs - spanMs, this.#latestMs - this.#intervalMs);
    if (isOpen || nowMs === this.#latestMs)
      return this.#series.percentile(p, { span: this.#latestMs - fromMs, method });
    const asked = { at: nowMs, span: nowMs - fromMs, percentiles: [p], method };
    return this.#series.stats(asked).percentiles[p] as number;
  }

  #restart(): void {
    this.#latestMs = Number.NEGATIVE_INFINITY;
    this.#series = this.#begin();
  }

  #begin(): LocalSeries {
    return new LocalSeries({ ...this.#options, retention: this.#intervalMs, clock: () => this.#latestMs });
  }
}
