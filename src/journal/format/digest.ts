import type { Column } from "../../kernel/contract.ts";
import { Run } from "../../stats/runs/run.ts";

/**
 * A run of which only every so many-th number is kept, the middle one of each `stride` that follow each other in order.
 * Counts, sums and extrema are of all of them. How many numbers are below a value is told to within `slack`: all
 * strides but the one that the value lies in are counted rightly.
 */
export class Digest extends Run {
  readonly stride: number;
  /** Of all events. */
  readonly earliestMs: number;
  readonly latestMs: number;

  constructor(points: Column, stride: number, earliestMs: number, latestMs: number) {
    super(points);
    this.length = points.length;
    this.stride = stride;
    this.earliestMs = earliestMs;
    this.latestMs = latestMs;
  }

  /** Of `values`, which are put in order in place; ranks are told to within the share `rankError` of their number. */
  static from(values: Column, rankError: number, earliestMs: number, latestMs: number): Digest {
    const run = Run.of(values);
    const stride = 2 * Math.floor(run.length * rankError) + 1;
    const points = values.slice(0, Math.ceil(run.length / stride));
    for (let i = 0; i < points.length; i++) {
      const size = Math.min(stride, run.length - i * stride);
      points[i] = values[i * stride + (size >> 1)];
    }
    const digest = new Digest(points, stride, earliestMs, latestMs);
    const { length: _length, sorted: _sorted, ...summary } = run;
    return Object.assign(digest, summary);
  }

  /** Numbers, of which the points stand for all. */
  get numbers(): number {
    return this.count - this.nanCount;
  }

  /** By how many numbers a rank may be wrong. */
  get slack(): number {
    return this.stride >> 1;
  }

  /** Whether points and counts fit together: selection among others would not come to an end. */
  get isWhole(): boolean {
    const { sorted, stride, finiteCount, numbers } = this;
    if (stride === 0 || finiteCount < 0 || sorted.length !== Math.ceil(numbers / stride)) return false;
    return sorted.every((point, i) => point >= (i === 0 ? Number.NEGATIVE_INFINITY : sorted[i - 1]));
  }

  /** How many numbers `points` of the points stand for. */
  standsFor(points: number): number {
    return Math.min(this.numbers, points * this.stride);
  }
}
