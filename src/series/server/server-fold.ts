import { firstRank, RANKS } from "../../journal/steps/server-answer.ts";
import type { ServerMoments } from "../../journal/steps/server-moments.ts";
import { meanOf } from "../../kernel/double-double.ts";
import { withInfinities } from "../../kernel/moments.ts";
import type { WindowAggregates } from "../../stats/window-stats.ts";

const NONE: ServerMoments = {
  count: 0,
  numbers: 0,
  infinite: 0,
  negativeInfinite: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  high: 0,
  low: 0,
  m2: 0,
  scale: 1,
};

/** One window, folded by the server. It has `RANKS` order statistics for each of `percentiles`, and no others. */
export class ServerFold implements WindowAggregates {
  readonly #moments: ServerMoments;
  readonly #percentiles: readonly number[];
  readonly #ordered: Float64Array;

  constructor(moments = NONE, percentiles: readonly number[] = [], ordered: Float64Array = new Float64Array(0)) {
    this.#moments = moments;
    this.#percentiles = percentiles;
    this.#ordered = ordered;
  }

  get count(): number {
    return this.#moments.count;
  }

  get validCount(): number {
    return this.#moments.numbers;
  }

  get nanCount(): number {
    return this.#moments.count - this.#moments.numbers;
  }

  get min(): number {
    return this.#moments.min;
  }

  get max(): number {
    return this.#moments.max;
  }

  get sum(): number {
    const { high, low, scale } = this.#moments;
    return this.#infinite((high + low) / scale);
  }

  get mean(): number {
    const { high, low, scale } = this.#moments;
    return this.#infinite(meanOf(high, low, this.#finiteCount) / scale);
  }

  variance(ddof: number): number {
    const { numbers, m2, scale, min, max } = this.#moments;
    if (this.#finiteCount !== numbers || numbers - ddof <= 0) return Number.NaN;
    // M2 is NaN if the squares overflow f64.
    const squares = min === max ? 0 : Number.isNaN(m2) ? Number.POSITIVE_INFINITY : Math.max(0, m2);
    return squares / scale / scale / (numbers - ddof);
  }

  valuesAt(k: number, p: number): [number, number] {
    const { numbers } = this.#moments;
    const offset = k - firstRank(numbers, p);
    const from = this.#percentiles.indexOf(p) * RANKS;
    return [this.#ordered[from + offset]!, this.#ordered[from + Math.min(offset + 1, RANKS - 1)]!];
  }

  get #finiteCount(): number {
    const { numbers, infinite, negativeInfinite } = this.#moments;
    return numbers - infinite - negativeInfinite;
  }

  #infinite(finite: number): number {
    return withInfinities(finite, this.#moments.infinite, this.#moments.negativeInfinite);
  }
}
