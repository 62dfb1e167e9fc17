import type { Column } from "../../kernel/contract.ts";
import { ColumnRun } from "../../stats/runs/run.ts";

/**
 * A sorted run that keeps only the middle number of each group of `stride` numbers. Its counts, sums and extrema cover all
 * numbers. The number of values below a given one is known to within `slack`, because only the group around that value is
 * uncertain.
 */
export class Digest extends ColumnRun {
  readonly stride: number;
  /** Times of all events. */
  readonly earliestMs: number;
  readonly latestMs: number;

  constructor(points: Column, stride: number, earliestMs: number, latestMs: number) {
    super(points);
    this.length = points.length;
    this.stride = stride;
    this.earliestMs = earliestMs;
    this.latestMs = latestMs;
  }

  /** Makes a digest of `values`, which it sorts in place. The error of a rank is at most the share `rankError` of their number. */
  static from(values: Column, rankError: number, earliestMs: number, latestMs: number): Digest {
    const run = ColumnRun.of(values);
    const stride = 2 * Math.floor(run.length * rankError) + 1;
    const points = values.slice(0, Math.ceil(run.length / stride));
    for (let i = 0; i < points.length; i++) {
      const size = Math.min(stride, run.length - i * stride);
      points[i] = values[i * stride + (size >> 1)]!;
    }
    const digest = new Digest(points, stride, earliestMs, latestMs);
    const { length: _length, sorted: _sorted, ...summary } = run;
    return Object.assign(digest, summary);
  }

  /** Number of values that are not NaN. The points represent all of them. */
  get numbers(): number {
    return this.count - this.nanCount;
  }

  /** Largest error of a rank. */
  get slack(): number {
    return this.stride >> 1;
  }

  /** Whether points, counts and extrema are consistent. A selection over inconsistent ones would not end. */
  get isWhole(): boolean {
    const { sorted, stride, finiteCount, numbers, min, max } = this;
    if (stride === 0 || finiteCount < 0 || sorted.length !== Math.ceil(numbers / stride)) return false;
    return sorted.every((point, i) => point >= (i === 0 ? min : sorted[i - 1]!) && point <= max);
  }

  /** The number of values that `points` points represent. */
  standsFor(points: number): number {
    return Math.min(this.numbers, points * this.stride);
  }
}
