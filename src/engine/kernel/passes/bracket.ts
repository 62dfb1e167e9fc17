import type { Column } from "../contract.ts";

/**
 * Two values of a sample between which a rank of the column most likely lies. Values from `first` to `last`, both
 * included, are collected. If the sample has `low` or `high` more than once, that value is excluded and only counted.
 */
export interface SampledBracket {
  low: number;
  high: number;
  first: number;
  last: number;
}

/** The sample size that balances the cost of the sample with that of the values inside the brackets of `shares` (0 to 1). */
export function sampleSize(n: number, shares: readonly number[]): number {
  const balance = ((n / 2) * Math.max(0, ...shares.map(deviationOf))) ** (2 / 3);
  return Math.floor(Math.min(16384, Math.max(256, balance)));
}

/**
 * Draws one random index in each of `size` equal strides of `count` indexes, so that periodic data does not bias the
 * sample. `seed` has 32 bits. assembly/selection/sample.ts draws the same indexes.
 */
export function sampleIndexes(size: number, count: number, seed: number): Uint32Array {
  const places = new Uint32Array(size);
  const stride = count / size;
  let random = seed;
  for (let i = 0; i < size; i++) {
    random = (Math.imul(1664525, random) + 1013904223) >>> 0;
    places[i] = Math.min(count - 1, Math.floor((i + random * 2 ** -32) * stride));
  }
  return places;
}

/**
 * The bracket of a share of the values, from a sorted sample without NaN. It extends 3.2 standard deviations of the
 * sample's rank, and 2 ranks, to either side.
 */
export function bracketOf(sorted: Column, share: number): SampledBracket {
  const size = sorted.length;
  const centre = share * size;
  const slack = 3.2 * deviationOf(share) * Math.sqrt(size) + 2;
  const from = Math.floor(centre - slack);
  const to = Math.ceil(centre + slack);
  const low = from < 0 ? Number.NEGATIVE_INFINITY : sorted[from]!;
  const high = to >= size ? Number.POSITIVE_INFINITY : sorted[to]!;
  const isTied = (i: number) => sorted[i] === sorted[i - 1] || sorted[i] === sorted[i + 1];
  return {
    low,
    high,
    first: from >= 0 && isTied(from) ? numberAbove(sorted, low) : low,
    last: to < size && isTied(to) ? numberBelow(sorted, high) : high,
  };
}

function deviationOf(share: number): number {
  return Math.sqrt(share * (1 - share));
}

const f64 = new Float64Array(1);
const i64 = new BigInt64Array(f64.buffer);
const f32 = new Float32Array(1);
const i32 = new Int32Array(f32.buffer);

/** The smallest number of the column's type above x; +Infinity for +Infinity. */
function numberAbove(values: Column, x: number): number {
  if (x === Number.POSITIVE_INFINITY) return x;
  // Adding 0 turns -0 into +0. The bits of positive numbers increase with the number; those of negative ones decrease.
  if (values instanceof Float32Array) {
    f32[0] = x + 0;
    i32[0]! += x >= 0 ? 1 : -1;
    return f32[0]!;
  }
  f64[0] = x + 0;
  i64[0]! += x >= 0 ? 1n : -1n;
  return f64[0]!;
}

/** The largest number of the column's type below x; -Infinity for -Infinity. */
function numberBelow(values: Column, x: number): number {
  return -numberAbove(values, -x);
}
