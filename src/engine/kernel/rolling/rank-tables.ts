import type { RankTable } from "../contract.ts";
import { type PercentileMethod, percentileRanks } from "../percentile/percentile.ts";

/** The ranks of a percentile for each count of values. Each count is computed once. */
export class RankTables {
  readonly #method: PercentileMethod;
  readonly #p: number;
  #known = 1;
  #lower = new Uint32Array(1);
  #weight = new Float64Array(1);

  /** Throws ARGUMENT for an unknown method, or a p outside 0 to 100. */
  constructor(method: PercentileMethod, p: number) {
    percentileRanks(method, 1, p);
    this.#method = method;
    this.#p = p;
  }

  /** The rows for counts from `minCount` to `maxCount`. The row of count 0 is unused. */
  between(minCount: number, maxCount: number): RankTable {
    this.#cover(maxCount);
    const [from, to] = [minCount, maxCount + 1];
    return { lower: this.#lower.subarray(from, to), weight: this.#weight.subarray(from, to) };
  }

  #cover(maxCount: number): void {
    if (maxCount >= this.#lower.length) {
      const length = Math.max(maxCount + 1, this.#lower.length * 2);
      const [lower, weight] = [new Uint32Array(length), new Float64Array(length)];
      lower.set(this.#lower);
      weight.set(this.#weight);
      this.#lower = lower;
      this.#weight = weight;
    }
    for (; this.#known <= maxCount; this.#known++) {
      const order = percentileRanks(this.#method, this.#known, this.#p);
      this.#lower[this.#known] = order.lower;
      this.#weight[this.#known] = order.weight;
    }
  }
}
