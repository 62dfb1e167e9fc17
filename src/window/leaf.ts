import { activeKernel } from "../kernel/choose.ts";
import type { Column } from "../kernel/contract.ts";
import type { Closed } from "../time.ts";
import { Run } from "./run.ts";

/**
 * At most 512 events of which some are inside a window and some are not: their order by value is kept, so that the run
 * of those inside is one walk, whichever they are. New events are put into the order where they belong.
 */
export class Leaf {
  readonly #start: number;
  #order = new Uint16Array(64);
  #count = 0;

  constructor(start: number) {
    this.#start = start;
  }

  /** The events of `[start, end)` inside the window; undefined when there are none. */
  run(times: Float64Array, values: Column, end: number, fromMs: number, toMs: number, closed: Closed): Run | undefined {
    this.#grow(values, end - this.#start);
    const inside = values.slice(this.#start, end);
    const order = this.#order;
    const start = this.#start;
    // Times are whole ms: `from < t` is `from + 1 <= t`.
    const leastMs = closed === "both" ? fromMs : fromMs + 1;
    let count = 0;
    for (let j = 0; j < this.#count; j++) {
      const i = start + order[j];
      if (times[i] >= leastMs && times[i] <= toMs) inside[count++] = values[i];
    }
    if (count === 0) return undefined;
    const sorted = inside.subarray(0, count);
    return new Run(activeKernel().summary(sorted), sorted);
  }

  #grow(values: Column, count: number): void {
    if (count > this.#order.length) {
      const larger = new Uint16Array(Math.max(count, this.#order.length * 2));
      larger.set(this.#order);
      this.#order = larger;
    }
    for (let i = this.#count; i < count; i++) {
      const place = this.#placeOf(values[this.#start + i], values, i);
      this.#order.copyWithin(place + 1, place, i);
      this.#order[place] = i;
    }
    this.#count = Math.max(this.#count, count);
  }

  /** Behind everything that is not greater; NaN behind all. */
  #placeOf(value: number, values: Column, count: number): number {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (
        values[this.#start + this.#order[middle]] > value ||
        (Number.isNaN(values[this.#start + this.#order[middle]]) && !Number.isNaN(value))
      )
        high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
