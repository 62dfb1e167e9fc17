import { divideDouble, meanOf } from "../../kernel/double-double.ts";
import { withInfinities } from "../../kernel/moments.ts";

/** The numbers of a node: counts, and of the finite values the sum and the mean as double-doubles, M2, and the extremes. */
const FINITE = 0;
const NAN = 1;
const POSITIVE = 2;
const NEGATIVE = 3;
const SUM_HIGH = 4;
const SUM_LOW = 5;
const MEAN_HIGH = 6;
const MEAN_LOW = 7;
const M2 = 8;
const MIN = 9;
const MAX = 10;
export const SIZE = 11;

/** The moments of a window: the sum of some nodes and of the values at its edges. */
export class WindowMoments {
  /** Where each part lies. Nodes stay in their tree, edges are in `#edges`. */
  readonly #parts: Float64Array[] = [];
  readonly #offsets: number[] = [];
  #count = 0;
  #edges = new Float64Array(16 * SIZE);
  #edgesEnd = 0;
  readonly #total = new Float64Array(SIZE);

  clear(): void {
    this.#count = 0;
    this.#edgesEnd = 0;
  }

  addNode(numbers: Float64Array, offset: number): void {
    this.#parts[this.#count] = numbers;
    this.#offsets[this.#count++] = offset;
  }

  addValues(values: Float32Array, begin: number, end: number): void {
    // The parts in a full array stay where they are.
    if (this.#edgesEnd === this.#edges.length) {
      this.#edges = new Float64Array(2 * this.#edges.length);
      this.#edgesEnd = 0;
    }
    summarize(values, begin, end, this.#edges, this.#edgesEnd);
    this.addNode(this.#edges, this.#edgesEnd);
    this.#edgesEnd += SIZE;
  }

  /** Call it after the last part was added. */
  sum(): void {
    addUp(this.#parts, this.#offsets, this.#count, this.#total);
  }

  /** Writes what `sum` computed. */
  store(into: Float64Array, offset: number): void {
    for (let i = 0; i < SIZE; i++) into[offset + i] = this.#total[i]!;
  }

  get nanCount(): number {
    return this.#total[NAN]!;
  }

  get min(): number {
    return this.#total[MIN]!;
  }

  get max(): number {
    return this.#total[MAX]!;
  }

  get total(): number {
    return this.#addInfinities(this.#total[SUM_HIGH]! + this.#total[SUM_LOW]!);
  }

  get mean(): number {
    return this.#addInfinities(meanOf(this.#total[SUM_HIGH]!, this.#total[SUM_LOW]!, this.#total[FINITE]!));
  }

  /** NaN with an infinity. */
  variance(ddof: number): number {
    const total = this.#total;
    if (total[POSITIVE]! + total[NEGATIVE]! > 0 || total[FINITE]! <= ddof) return Number.NaN;
    return total[M2]! / (total[FINITE]! - ddof);
  }

  #addInfinities(finite: number): number {
    return withInfinities(finite, this.#total[POSITIVE]!, this.#total[NEGATIVE]!);
  }
}

/** Same as `summarize`, for values among which are NaN or infinities. */
function summarize(values: Float32Array, begin: number, end: number, into: Float64Array, at: number): void {
  let nan = 0;
  let positive = 0;
  let negative = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let high = 0;
  let low = 0;
  for (let i = begin; i < end; i++) {
    const x = values[i]!;
    if (x - x !== 0) {
      if (x > 0) positive++;
      else if (x < 0) negative++;
      else nan++;
      continue;
    }
    if (x < min) min = x;
    if (x > max) max = x;
    const sum = high + x;
    const part = sum - high;
    low += high - (sum - part) + (x - part);
    high = sum;
  }
  if (min === 0) min = hasZero(values, begin, end, -0) ? -0 : 0;
  if (max === 0) max = hasZero(values, begin, end, 0) ? 0 : -0;
  into[at + FINITE] = end - begin - nan - positive - negative;
  into[at + NAN] = nan;
  into[at + POSITIVE] = positive;
  into[at + NEGATIVE] = negative;
  into[at + MIN] = negative > 0 ? Number.NEGATIVE_INFINITY : min;
  into[at + MAX] = positive > 0 ? Number.POSITIVE_INFINITY : max;
  storeSum(high, low, into, at);
  into[at + M2] = squares(values, begin, end, into[at + MEAN_HIGH]!);
}

/** Comparisons do not see the sign of a zero. */
function hasZero(values: Float32Array, begin: number, end: number, zero: number): boolean {
  for (let i = begin; i < end; i++) if (Object.is(values[i], zero)) return true;
  return false;
}

function squares(values: Float32Array, begin: number, end: number, mean: number): number {
  let even = 0;
  let odd = 0;
  for (let i = begin; i < end; i++) {
    const distance = values[i]! - mean;
    if (distance - distance !== 0) continue;
    if ((i & 1) === 0) even += distance * distance;
    else odd += distance * distance;
  }
  return even + odd;
}

/** Adds the parts as `Accumulator` does. The extremes of a part with an infinity are infinite. */
function addUp(parts: readonly Float64Array[], offsets: readonly number[], count: number, into: Float64Array): void {
  let finite = 0;
  let nan = 0;
  let positive = 0;
  let negative = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let high = 0;
  let low = 0;
  for (let p = 0; p < count; p++) {
    const part = parts[p]!;
    const at = offsets[p]!;
    finite += part[at + FINITE]!;
    nan += part[at + NAN]!;
    positive += part[at + POSITIVE]!;
    negative += part[at + NEGATIVE]!;
    min = Math.min(min, part[at + MIN]!);
    max = Math.max(max, part[at + MAX]!);
    const x = part[at + SUM_HIGH]!;
    const sum = high + x;
    const added = sum - high;
    low += high - (sum - added) + (x - added) + part[at + SUM_LOW]!;
    high = sum;
  }
  into[FINITE] = finite;
  into[NAN] = nan;
  into[POSITIVE] = positive;
  into[NEGATIVE] = negative;
  storeSum(high, low, into, 0);
  const meanHigh = into[MEAN_HIGH]!;
  const meanLow = into[MEAN_LOW]!;
  let m2 = 0;
  for (let p = 0; p < count; p++) {
    const part = parts[p]!;
    const at = offsets[p]!;
    const distance = part[at + MEAN_HIGH]! - meanHigh + (part[at + MEAN_LOW]! - meanLow);
    m2 += part[at + M2]! + part[at + FINITE]! * distance * distance;
  }
  into[M2] = m2;
  into[MIN] = min;
  into[MAX] = max;
}

function storeSum(high: number, low: number, into: Float64Array, at: number): void {
  const count = into[at + FINITE]!;
  const [meanHigh, meanLow] = count > 0 ? divideDouble(high, low, count) : [0, 0];
  into[at + SUM_HIGH] = high;
  into[at + SUM_LOW] = low;
  into[at + MEAN_HIGH] = meanHigh;
  into[at + MEAN_LOW] = meanLow;
}
