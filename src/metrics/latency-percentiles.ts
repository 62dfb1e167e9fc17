import { checkKnown } from "../errors.ts";
import type { PercentileMethod } from "../kernel/percentile/percentile.ts";
import { LocalSeries, type LocalSeriesOptions } from "../stats/local-series.ts";
import type { Clock } from "../time.ts";

export type LatencySeriesOptions = Pick<LocalSeriesOptions, "values" | "maxBytes">;

export interface LatencyPercentileOptions {
  /** One of NumPy's 13 methods; default "linear". */
  method?: PercentileMethod;
}

/**
 * The latencies of a ring of buckets, in a LocalSeries: each at the start of its bucket, so that both are over the same events.
 * The series' time is the latest bucket's start. It does not fall back; where the clock has by an interval or more, the
 * percentiles begin anew, as none of what was recorded would be in a window of then.
 */
export class LatencyPercentiles {
  readonly #intervalMs: number;
  readonly #options: LatencySeriesOptions;
  readonly #clock: Clock;
  #latestMs = -Infinity;
  #series: LocalSeries;

  constructor(intervalMs: number, options: LatencySeriesOptions, clock: Clock) {
    checkKnown(options, ["values", "maxBytes"], "percentiles");
    this.#intervalMs = intervalMs;
    this.#clock = clock;
    this.#options = { values: "float64", ...options };
    this.#series = this.#begin();
  }

  /** What is an interval older than the latest is in no window to come, unless the clock has stepped back. */
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

  /** Over the buckets that start after `nowMs - spanMs`, up to `nowMs` or, `isOpen`, to the latest one. */
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
    this.#latestMs = -Infinity;
    this.#series = this.#begin();
  }

  #begin(): LocalSeries {
    return new LocalSeries({ ...this.#options, retention: this.#intervalMs, clock: () => this.#latestMs });
  }
}
