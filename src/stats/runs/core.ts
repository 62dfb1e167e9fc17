import { PartSum } from "./part-sum.ts";
import type { Part, Run } from "./run.ts";

/** Tells one core from every other, without holding on to it. */
let cores = 0;

/**
 * The closed segments that lie wholly inside a window, summed up once. While the window moves on and they stay the
 * same, a query needs only what lies around them.
 */
export class Core {
  readonly id = ++cores;
  readonly runs: readonly Run[];
  readonly part: Part;

  constructor(runs: readonly Run[]) {
    this.runs = runs;
    const sum = new PartSum();
    for (const run of runs) sum.add(run);
    this.part = sum.toPart();
  }
}
