import type { OrderTable } from "../contract.ts";
import { orderOf, type PercentileMethod } from "../percentile/percentile.ts";

/** Which order statistics make a percentile, for each count of values: computed once for each that may occur. */
export class Orders {
  readonly #method: PercentileMethod;
  readonly #p: number;
  #known = 1;
  #lower = new Uint32Array(1);
  #weight = new Float64Array(1);

  /** ARGUMENT for another method or p. */
  constructor(method: PercentileMethod, p: number) {
    orderOf(method, 1, p);
    this.#method = method;
    this.#p = p;
  }

  /** For counts from `least` to `most`; 0 stands for no percentile. */
  between(least: number, most: number): OrderTable {
    this.#cover(most);
    return { lower: this.#lower.subarray(least, most + 1), weight: this.#weight.subarray(least, most + 1) };
  }

  #cover(most: number): void {
    if (most >= this.#lower.length) {
      const length = Math.max(most + 1, this.#lower.length * 2);
      const [lower, weight] = [new Uint32Array(length), new Float64Array(length)];
      lower.set(this.#lower);
      weight.set(this.#weight);
      this.#lower = lower;
      this.#weight = weight;
    }
    for (; this.#known <= most; this.#known++) {
      const order = orderOf(this.#method, this.#known, this.#p);
      this.#lower[this.#known] = order.lower;
      this.#weight[this.#known] = order.weight;
    }
  }
}
