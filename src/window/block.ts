import { activeKernel } from "../kernel/choose.ts";
import type { Column, Summary } from "../kernel/contract.ts";
import type { Fold } from "./fold.ts";

/** Events that enter or leave a window together: their extent in time, and what a query folds of them, made when first needed. */
export class Block {
  readonly earliestMs: number;
  readonly latestMs: number;
  #made: { summary: Summary; sorted: Column } | undefined;

  constructor(earliestMs: number, latestMs: number) {
    this.earliestMs = earliestMs;
    this.latestMs = latestMs;
  }

  /** `values[start .. end)` are the block's events, every time the same. NaN, which sorts last, is left out of the run. */
  addTo(fold: Fold, values: Column, start: number, end: number): void {
    if (!this.#made) {
      const kernel = activeKernel();
      const sorted = values.slice(start, end);
      const summary = kernel.summary(sorted);
      kernel.sort(sorted);
      this.#made = { summary, sorted: sorted.subarray(0, sorted.length - summary.nanCount) };
    }
    fold.add(this.#made.summary, this.#made.sorted);
  }
}
