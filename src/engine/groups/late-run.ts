import { runKernel } from "../kernel/choose.ts";
import type { Column } from "../kernel/contract.ts";
import { lowerBound, Run, upperBound } from "../stats/runs/run.ts";

/**
 * A run of pairs. The question that reads it sorts them and takes them apart, so a run that no question reads costs nothing. Of its
 * statistics only the counts are known: those of pairs say nothing.
 */
export class LateRun extends Run {
  /** In order of arrival. They never change. */
  readonly arrived: Column;

  constructor(arrived: Column, isTransient = false) {
    super(isTransient);
    this.arrived = arrived;
    this.count = arrived.length;
    this.length = arrived.length;
  }

  at(i: number): number {
    return this.part(i, i + 1)[0]!;
  }

  lowerBound(limit: number, from: number, to: number): number {
    return lowerBound(this.part(0, to), limit, from, to);
  }

  upperBound(limit: number, from: number, to: number): number {
    return upperBound(this.part(0, to), limit, from, to);
  }

  copyTo(into: Float64Array, at: number, from: number, to: number): void {
    into.set(this.part(from, to), at);
  }

  /** A copy. Cost: all pairs are sorted. */
  part(from: number, to: number): Column {
    const sorted = this.arrived.slice();
    runKernel().sort(sorted);
    return sorted.subarray(from, to);
  }
}
