import { activeKernel } from "../kernel/choose.ts";
import type { Column } from "../kernel/contract.ts";
import { Run } from "./run.ts";

/** Events that enter or leave a window together: their extent in time, and their run, made when a query first needs it. */
export class Block {
  readonly earliestMs: number;
  readonly latestMs: number;
  #run: Run | undefined;

  constructor(earliestMs: number, latestMs: number) {
    this.earliestMs = earliestMs;
    this.latestMs = latestMs;
  }

  /** `values[start .. end)` are the block's events, every time the same. */
  run(values: Column, start: number, end: number): Run {
    if (!this.#run) {
      const kernel = activeKernel();
      const sorted = values.slice(start, end);
      const summary = kernel.summary(sorted);
      kernel.sort(sorted);
      this.#run = new Run(summary, sorted);
    }
    return this.#run;
  }
}
