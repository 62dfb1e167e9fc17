import { Digest } from "../../journal/format/digest.ts";
import { Fold } from "../../stats/window-stats.ts";
import type { Closed } from "../../time.ts";
import { isInside } from "../../time.ts";

/** Rounding and interpolation move a percentile by up to this many ranks. */
const RANK_SLACK = 2;

/**
 * A window that consists of digests and runs. A digest that an edge of the window cuts is included or left out as a
 * whole. All statistics but percentiles are then exact for a window that differs by at most `uncertain` events.
 */
export class SummaryFold extends Fold {
  /** Number of events in digests that an edge cuts. */
  uncertain = 0;
  /** An edge cuts a digest that includes NaN. */
  isNanUncertain = false;
  #uncertainNumbers = 0;
  #slack = 0;
  #points: Float64Array | undefined;

  addDigests(digests: readonly Digest[], fromMs: number, toMs: number, closed: Closed): void {
    for (const digest of digests) {
      const { earliestMs, latestMs } = digest;
      if (latestMs < fromMs || earliestMs > toMs || (latestMs === fromMs && closed === "right")) continue;
      const isWhole = latestMs <= toMs && isInside(earliestMs, fromMs, toMs, closed);
      if (!isWhole) {
        this.uncertain += digest.count;
        this.#uncertainNumbers += digest.numbers;
        this.isNanUncertain ||= digest.nanCount > 0;
        if (2 * (Math.min(latestMs, toMs) - Math.max(earliestMs, fromMs)) < latestMs - earliestMs) continue;
      }
      this.#slack += digest.slack;
      this.add(digest);
    }
  }

  /** Maximum error of a percentile's rank, as a share of all numbers. */
  get rankError(): number {
    const wrong = this.#slack + this.#uncertainNumbers;
    return wrong === 0 ? 0 : (wrong + RANK_SLACK) / this.validCount;
  }

  override valuesAt(k: number, p: number): [number, number] {
    if (this.#slack === 0) return super.valuesAt(k, p);
    return [this.#near(k), this.#near(k + 1)];
  }

  /** The smallest value that represents the 0-based rank `k` or a higher rank. */
  #near(k: number): number {
    if (k <= 0) return this.min;
    if (k >= this.validCount - 1) return this.max;
    this.#points ??= pointsOf(this);
    let low = 0;
    let high = this.#points.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#upTo(this.#points[middle]!) > k) high = middle;
      else low = middle + 1;
    }
    return this.#points[low]!;
  }

  #upTo(value: number): number {
    let count = 0;
    for (const run of this.runs) {
      const points = run.upperBound(value, 0, run.length);
      count += run instanceof Digest ? run.standsFor(points) : points;
    }
    return count;
  }
}

function pointsOf({ runs }: Fold): Float64Array {
  const points = new Float64Array(runs.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const run of runs) {
    run.copyTo(points, at, 0, run.length);
    at += run.length;
  }
  return points.sort();
}
