import type { Column } from "../contract.ts";
import { foldLanes } from "../double-double.ts";
import type { Block, Census } from "../passes/passes.ts";
import { BLOCK, census, widen } from "./selection.ts";

const sums = new Float64Array(8);
const squared = new Float64Array(8);
/** Minimum and maximum. In module variables, V8 would box each number. */
const ends = new Float64Array(2);
const sizes = new Float64Array(1);
const sizeWords = new Int32Array(sizes.buffer);
const NEGATIVE_ZERO = -0x80000000;

/** The JavaScript form of assembly/sums/fold.ts. It chooses the same blocks, and the same center of the squares. */
export function fold(values: Column, about: number, take: (block: Block) => void): number {
  let mean = about;
  for (let begin = 0; begin < values.length; begin += BLOCK)
    mean = block(
      widen(values, begin, Math.min(begin + BLOCK, values.length)),
      mean,
      values instanceof Float32Array,
      take,
    );
  return mean;
}

function block(values: Float64Array, before: number, narrow: boolean, take: (block: Block) => void): number {
  ends[0] = Number.POSITIVE_INFINITY;
  ends[1] = Number.NEGATIVE_INFINITY;
  plain(values, before, 0);
  plain(values, before, 4);
  rest(values, before);
  const min = ends[0]!;
  const max = ends[1]!;
  let about = before;
  let squaresAbout = foldPlain(squared);
  let high = foldPlain(sums);
  let low = 0;
  const count = values.length;
  const finite = high - high === 0;
  const aboutZero = min <= 0 && max >= 0;
  let size = min > 0 ? min : -max;
  let special: Census | undefined;
  if (finite && aboutZero && narrow) ({ size, special } = aroundZero(values));
  else if (!finite || aboutZero) special = census(values);
  const numbers = special ? count - special.nan - special.positiveInfinity - special.negativeInfinity : count;
  if (!finite) about = Number.NaN;
  if (!finite || !(narrow && holds(count, size, Math.max(-min, max)))) [high, low] = lanes(values);
  const mean = high / numbers;
  const apart = mean - about;
  if (!(numbers * apart * apart <= 0.25 * squaresAbout && squaresAbout < Number.POSITIVE_INFINITY)) {
    about = numbers > 0 ? mean : 0;
    squaresAbout = squares(values, about);
  }
  take({ count, sumHigh: high, sumLow: low, squares: squaresAbout, about, min, max, census: special });
  return mean;
}

/** The lanes `first` to `first + 3` of assembly/sums/plain.ts, for complete groups of eight values. */
function plain(values: Float64Array, about: number, first: number): void {
  const end = values.length - 7;
  let low = ends[0]!;
  let high = ends[1]!;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let q0 = 0;
  let q1 = 0;
  let q2 = 0;
  let q3 = 0;
  for (let i = 0; i < end; i += 8) {
    const a = values[i + first]!;
    const b = values[i + first + 1]!;
    const c = values[i + first + 2]!;
    const d = values[i + first + 3]!;
    if (a < low) low = a;
    if (a > high) high = a;
    if (b < low) low = b;
    if (b > high) high = b;
    if (c < low) low = c;
    if (c > high) high = c;
    if (d < low) low = d;
    if (d > high) high = d;
    s0 += a;
    s1 += b;
    s2 += c;
    s3 += d;
    q0 += (a - about) * (a - about);
    q1 += (b - about) * (b - about);
    q2 += (c - about) * (c - about);
    q3 += (d - about) * (d - about);
  }
  sums[first] = s0;
  sums[first + 1] = s1;
  sums[first + 2] = s2;
  sums[first + 3] = s3;
  squared[first] = q0;
  squared[first + 1] = q1;
  squared[first + 2] = q2;
  squared[first + 3] = q3;
  ends[0] = low;
  ends[1] = high;
}

/** Adds each value after the last complete group of eight to its lane. */
function rest(values: Float64Array, about: number): void {
  for (let i = values.length & ~7, lane = 0; i < values.length; i++, lane++) {
    const x = values[i]!;
    if (x < ends[0]!) ends[0] = x;
    if (x > ends[1]!) ends[1] = x;
    sums[lane]! += x;
    squared[lane]! += (x - about) * (x - about);
  }
}

/**
 * For finite f32 values with a zero or with both signs: the smallest magnitude other than zero (without one, the largest
 * finite number), and the kinds of zeros. It may report a +0 that does not exist, unless an extreme is zero. The loop
 * works on words, so that no branch depends on the number of zeros.
 */
function aroundZero(values: Float64Array): { size: number; special: Census } {
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  // The sign bit is removed, then 1 is subtracted. So zero becomes the largest word.
  let min = 0x7fffffff;
  let negativeZero = false;
  for (let i = 1; i < words.length; i += 2) {
    const word = words[i]!;
    const size = ((word & 0x7fffffff) - 1) & 0x7fffffff;
    if (size < min) min = size;
    if (word === NEGATIVE_ZERO) negativeZero = true;
  }
  if (negativeZero) return { size: sizeOf(min), special: census(values) };
  const special = { nan: 0, positiveInfinity: 0, negativeInfinity: 0, negativeZero: 0, positiveZero: 1 };
  return { size: sizeOf(min), special };
}

/** The magnitude whose upper word is `key` + 1. */
function sizeOf(key: number): number {
  sizeWords[1] = Math.min(key + 1, 0x7fefffff);
  return sizes[0]!;
}

/** True if every partial sum of `count` finite f32 values, in any order, is exact in f64. */
function holds(count: number, size: number, max: number): boolean {
  // All values are multiples of the last bit of the smallest one, which is above size * 2^-24 and at min 2^-149.
  return count * max <= Math.max(size * 2 ** -24, 2 ** -149) * 2 ** 53;
}

const high = new Float64Array(8);
const low = new Float64Array(8);

/** The JavaScript form of assembly/sums/lanes.ts: the same additions in the same order. */
function lanes(values: Float64Array): [number, number] {
  for (let lane = 0; lane < 8; lane++) {
    let sum = 0;
    let lost = 0;
    for (let i = lane; i < values.length; i += 8) {
      let x = values[i]!;
      if (x - x !== 0) x = 0;
      const next = sum + x;
      const part = next - sum;
      lost += sum - (next - part) + (x - part);
      sum = next;
    }
    high[lane] = sum;
    low[lane] = lost;
  }
  return foldLanes(high, low);
}

const squareSums = new Float64Array(8);

/** The JavaScript form of assembly/sums/squares.ts: eight plain lanes, folded in the same order. */
function squares(values: Float64Array, mean: number): number {
  for (let lane = 0; lane < 8; lane++) {
    let sum = 0;
    for (let i = lane; i < values.length; i += 8) {
      const x = values[i]!;
      if (x - x === 0) sum += (x - mean) * (x - mean);
    }
    squareSums[lane] = sum;
  }
  return foldPlain(squareSums);
}

/** Eight lanes, in the order of assembly/sums/squares.ts. */
function foldPlain(eight: Float64Array): number {
  const [a, b, c, d, e, f, g, h] = [
    eight[0]!,
    eight[1]!,
    eight[2]!,
    eight[3]!,
    eight[4]!,
    eight[5]!,
    eight[6]!,
    eight[7]!,
  ];
  return a + b + (c + d) + (e + f + (g + h));
}

const f = Math.fround;

/** The JavaScript form of assembly/sums/pairwise.ts; f32 sums are rounded to f32 at each step. */
export function pairwiseSum(values: Column): number {
  return 0 + (values instanceof Float32Array ? sum32(values, 0, values.length) : sum64(values, 0, values.length));
}

/** The JavaScript form of assembly/sums/deviations.ts, and of their sum. Storing a product as f32 rounds it once. */
export function pairwiseSquares(values: Column, mean: number): number {
  const squares = values instanceof Float32Array ? new Float32Array(values.length) : new Float64Array(values.length);
  if (values instanceof Float32Array) {
    const about = f(mean);
    for (let i = 0; i < values.length; i++) {
      const distance = f(values[i]! - about);
      squares[i] = distance * distance;
    }
  } else {
    for (let i = 0; i < values.length; i++) {
      const distance = values[i]! - mean;
      squares[i] = distance * distance;
    }
  }
  return pairwiseSum(squares);
}

function sum32(values: Float32Array, begin: number, count: number): number {
  if (count > 128) {
    const half = (count >>> 1) & ~7;
    return f(sum32(values, begin, half) + sum32(values, begin + half, count - half));
  }
  const end = begin + count;
  let sum = -0;
  let i = begin;
  if (count >= 8) {
    const whole = begin + (count & ~7);
    let [a, b, c, d, e, g, h, j] = values.subarray(i, i + 8) as unknown as Eight;
    for (i += 8; i < whole; i += 8) {
      a = f(a + values[i]!);
      b = f(b + values[i + 1]!);
      c = f(c + values[i + 2]!);
      d = f(d + values[i + 3]!);
      e = f(e + values[i + 4]!);
      g = f(g + values[i + 5]!);
      h = f(h + values[i + 6]!);
      j = f(j + values[i + 7]!);
    }
    sum = f(f(f(a + b) + f(c + d)) + f(f(e + g) + f(h + j)));
  }
  for (; i < end; i++) sum = f(sum + values[i]!);
  return sum;
}

function sum64(values: Float64Array, begin: number, count: number): number {
  if (count > 128) {
    const half = (count >>> 1) & ~7;
    return sum64(values, begin, half) + sum64(values, begin + half, count - half);
  }
  const end = begin + count;
  let sum = -0;
  let i = begin;
  if (count >= 8) {
    const whole = begin + (count & ~7);
    let [a, b, c, d, e, g, h, j] = values.subarray(i, i + 8) as unknown as Eight;
    for (i += 8; i < whole; i += 8) {
      a += values[i]!;
      b += values[i + 1]!;
      c += values[i + 2]!;
      d += values[i + 3]!;
      e += values[i + 4]!;
      g += values[i + 5]!;
      h += values[i + 6]!;
      j += values[i + 7]!;
    }
    sum = a + b + (c + d) + (e + g + (h + j));
  }
  for (; i < end; i++) sum += values[i]!;
  return sum;
}

type Eight = [number, number, number, number, number, number, number, number];
