import { divideDouble } from "../../kernel/double-double.ts";
import type { Part } from "./run.ts";

/**
 * Sums up parts into one. The sum is a double-double over the parts' own, M2 is theirs plus what their means lie apart
 * from the common one (Chan, Golub, LeVeque 1979), in double-doubles too, so that an offset of 1e9 costs no digits; NaN
 * and infinities are counted, not added. Where the sum leaves the range of f64, `sumHigh` is not finite and M2 is of no use.
 */
export class PartSum {
  count = 0;
  nanCount = 0;
  positiveInfinityCount = 0;
  negativeInfinityCount = 0;
  finiteCount = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  sumHigh = 0;
  sumLow = 0;
  readonly #parts: Part[] = [];

  /** `part` must stay as it is until the last answer. */
  add(part: Part): void {
    this.count += part.count;
    this.nanCount += part.nanCount;
    this.positiveInfinityCount += part.positiveInfinityCount;
    this.negativeInfinityCount += part.negativeInfinityCount;
    this.finiteCount += part.finiteCount;
    this.min = Math.min(this.min, part.min);
    this.max = Math.max(this.max, part.max);
    const high = this.sumHigh + part.sumHigh;
    const added = high - this.sumHigh;
    this.sumLow += this.sumHigh - (high - added) + (part.sumHigh - added) + part.sumLow;
    this.sumHigh = high;
    this.#parts.push(part);
  }

  get m2(): number {
    if (this.finiteCount === 0) return 0;
    const [meanHigh, meanLow] = divideDouble(this.sumHigh, this.sumLow, this.finiteCount);
    let m2 = 0;
    for (const part of this.#parts) {
      const apart = part.meanHigh - meanHigh + (part.meanLow - meanLow);
      m2 += part.m2 + part.finiteCount * apart * apart;
    }
    return m2;
  }

  /** All of it as one part. */
  toPart(): Part {
    const { count, nanCount, positiveInfinityCount, negativeInfinityCount, finiteCount } = this;
    const { min, max, sumHigh, sumLow, m2 } = this;
    const [meanHigh, meanLow] = finiteCount === 0 ? [0, 0] : divideDouble(sumHigh, sumLow, finiteCount);
    const counts = { count, nanCount, positiveInfinityCount, negativeInfinityCount, finiteCount };
    return { ...counts, min, max, sumHigh, sumLow, meanHigh, meanLow, m2 };
  }
}
