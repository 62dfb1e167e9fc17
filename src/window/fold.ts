import type { Column } from "../kernel/contract.ts";
import { divideDouble, meanOf } from "../kernel/double-double.ts";
import { lowerBound } from "./bounds.ts";
import type { Brackets } from "./brackets.ts";
import type { Run } from "./run.ts";
import { scaledMoments } from "./scaled-moments.ts";
import { selectInRuns } from "./select-runs.ts";

/**
 * Sums up the parts of one window. The sum is a double-double over the parts' own, M2 is theirs plus what their means
 * lie apart from the common one (Chan, Golub, LeVeque 1979), in double-doubles too, so that an offset of 1e9 costs no
 * digits; NaN and infinities are counted, not added.
 */
export class Fold {
  count = 0;
  nanCount = 0;
  min = Infinity;
  max = -Infinity;
  readonly runs: Run[] = [];
  #finite = 0;
  #positive = 0;
  #negative = 0;
  #sumHigh = 0;
  #sumLow = 0;

  add(run: Run): void {
    const { summary } = run;
    this.count += summary.count;
    this.nanCount += summary.nanCount;
    this.#positive += summary.positiveInfinityCount;
    this.#negative += summary.negativeInfinityCount;
    this.min = Math.min(this.min, summary.min);
    this.max = Math.max(this.max, summary.max);
    this.#finite += run.finiteCount;
    this.runs.push(run);
    const high = this.#sumHigh + summary.sumHigh;
    const part = high - this.#sumHigh;
    this.#sumLow += this.#sumHigh - (high - part) + (summary.sumHigh - part) + summary.sumLow;
    this.#sumHigh = high;
  }

  /** Values that are numbers: finite and infinite. */
  get validCount(): number {
    return this.count - this.nanCount;
  }

  /** Sum of the numbers; infinities as IEEE adds them. */
  get sum(): number {
    return this.#infinite(this.#overflowed ? scaledMoments(this.columns).sum : this.#sumHigh + this.#sumLow);
  }

  get mean(): number {
    if (this.validCount === 0) return Number.NaN;
    const mean = this.#overflowed
      ? scaledMoments(this.columns).mean
      : meanOf(this.#sumHigh, this.#sumLow, this.#finite);
    return this.#infinite(mean);
  }

  variance(ddof: number): number {
    if (this.#finite !== this.validCount || this.#finite - ddof <= 0) return Number.NaN;
    return (this.#overflowed ? scaledMoments(this.columns).m2 : this.#m2()) / (this.#finite - ddof);
  }

  #m2(): number {
    const [meanHigh, meanLow] = divideDouble(this.#sumHigh, this.#sumLow, this.#finite);
    let m2 = 0;
    for (const run of this.runs) {
      const apart = run.meanHigh - meanHigh + (run.meanLow - meanLow);
      m2 += run.summary.m2 + run.finiteCount * apart * apart;
    }
    return m2;
  }

  /** A sum of finite values left the range of f64: sum, mean and M2 are then made from the runs, scaled down. */
  get #overflowed(): boolean {
    return !Number.isFinite(this.#sumHigh);
  }

  get columns(): Column[] {
    return this.runs.map((run) => run.sorted);
  }

  /** The order statistics of 0-based ranks k and k + 1 (k again at the end), over the numbers. */
  at(k: number, brackets?: Brackets, key = ""): [number, number] {
    return brackets ? brackets.select(this.runs, this.columns, this.validCount, k, key) : selectInRuns(this.columns, k);
  }

  /** How many numbers are below `limit`. */
  below(limit: number): number {
    return this.runs.reduce((sum, run) => sum + lowerBound(run.sorted, limit), 0);
  }

  #infinite(finite: number): number {
    if (this.#positive > 0) return this.#negative > 0 ? Number.NaN : Infinity;
    return this.#negative > 0 ? -Infinity : finite;
  }
}
