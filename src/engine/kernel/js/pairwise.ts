import type { Column } from "../contract.ts";

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
