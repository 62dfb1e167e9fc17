import type { Column, Summary } from "../kernel/contract.ts";
import { addDoubles, divideDouble, meanOf } from "../kernel/double-double.ts";
import { lowerBound } from "./bounds.ts";
import { scaledMoments } from "./scaled-moments.ts";
import { selectInRuns } from "./select-runs.ts";

/**
 * Sums up the parts of one window: summaries are folded in the order given, sorted values are kept as runs.
 * Sums and means are double-doubles and M2 is merged about them (Chan, Golub, LeVeque 1979), so that an offset of 1e9
 * costs no digits; NaN and infinities are counted, not added.
 */
export class Fold {
  count = 0;
  nanCount = 0;
  min = Infinity;
  max = -Infinity;
  readonly runs: Column[] = [];
  #finite = 0;
  #positive = 0;
  #negative = 0;
  #sumHigh = 0;
  #sumLow = 0;
  #meanHigh = 0;
  #meanLow = 0;
  #m2 = 0;
  /** A sum of finite values left the range of f64: sum, mean and M2 are then made from the runs, scaled down. */
  #overflowed = false;

  add(part: Summary, sorted: Column): void {
    this.count += part.count;
    this.nanCount += part.nanCount;
    this.#positive += part.positiveInfinityCount;
    this.#negative += part.negativeInfinityCount;
    this.min = Math.min(this.min, part.min);
    this.max = Math.max(this.max, part.max);
    if (sorted.length > 0) this.runs.push(sorted);
    const finite = part.count - part.nanCount - part.positiveInfinityCount - part.negativeInfinityCount;
    if (finite > 0) this.#merge(finite, part);
  }

  #merge(finite: number, part: Summary): void {
    const [meanHigh, meanLow] = divideDouble(part.sumHigh, part.sumLow, finite);
    const total = this.#finite + finite;
    if (this.#finite === 0) this.#m2 = part.m2;
    else {
      const delta = meanHigh - this.#meanHigh + (meanLow - this.#meanLow);
      this.#m2 += part.m2 + delta * delta * ((this.#finite / total) * finite);
    }
    [this.#sumHigh, this.#sumLow] = addDoubles(this.#sumHigh, this.#sumLow, part.sumHigh, part.sumLow);
    [this.#meanHigh, this.#meanLow] = divideDouble(this.#sumHigh, this.#sumLow, total);
    this.#finite = total;
    if (!Number.isFinite(part.sumHigh) || !Number.isFinite(this.#sumHigh)) this.#overflowed = true;
  }

  /** Values that are numbers: finite and infinite. */
  get validCount(): number {
    return this.count - this.nanCount;
  }

  /** Sum of the numbers; infinities as IEEE adds them. */
  get sum(): number {
    return this.#infinite(this.#overflowed ? scaledMoments(this.runs).sum : this.#sumHigh);
  }

  get mean(): number {
    if (this.validCount === 0) return Number.NaN;
    const mean = this.#overflowed ? scaledMoments(this.runs).mean : meanOf(this.#sumHigh, this.#sumLow, this.#finite);
    return this.#infinite(mean);
  }

  variance(ddof: number): number {
    if (this.#finite !== this.validCount || this.#finite - ddof <= 0) return Number.NaN;
    return (this.#overflowed ? scaledMoments(this.runs).m2 : this.#m2) / (this.#finite - ddof);
  }

  /** The order statistics of 0-based ranks k and k + 1 (k again at the end), over the numbers. */
  at(k: number): [number, number] {
    return selectInRuns(this.runs, k);
  }

  /** How many numbers are below `limit`. */
  below(limit: number): number {
    return this.runs.reduce((sum, run) => sum + lowerBound(run, limit), 0);
  }

  #infinite(finite: number): number {
    if (this.#positive > 0) return this.#negative > 0 ? Number.NaN : Infinity;
    return this.#negative > 0 ? -Infinity : finite;
  }
}
