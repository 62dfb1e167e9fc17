import { DOWNSCALED } from "../../generated/layouts/journal.ts";

/** The moments from one pass over the values of a window. Bit-equal to lua/summary/moments.lua, its twin. */
export interface ServerMoments {
  /** All values, and those that are not NaN. */
  count: number;
  numbers: number;
  infinite: number;
  negativeInfinite: number;
  /** Extrema of the numbers, with -0 below +0; +Infinity and -Infinity without numbers. */
  min: number;
  max: number;
  /** Double-double sum of the finite values, and the sum of their squared distances from the mean, all times `scale`. */
  high: number;
  low: number;
  m2: number;
  scale: number;
}

const BLOCK = 128;

/** `sorted` has the numbers of `values` in ascending order, -0 before +0. */
export function serverMoments(values: readonly number[], sorted: Float64Array): ServerMoments {
  const finite = values.filter(Number.isFinite);
  let [high, low, m2, scale] = [0, 0, 0, 1];
  if (finite.length > 0) {
    const numbers = values.filter((x) => !Number.isNaN(x));
    [high, low, m2] = sums(numbers, finite.length, 1);
    if (!Number.isFinite(high)) {
      scale = DOWNSCALED;
      [high, low, m2] = sums(numbers, finite.length, scale);
    }
  }
  return {
    count: values.length,
    numbers: sorted.length,
    infinite: values.filter((x) => x === Number.POSITIVE_INFINITY).length,
    negativeInfinite: values.filter((x) => x === Number.NEGATIVE_INFINITY).length,
    min: sorted[0] ?? Number.POSITIVE_INFINITY,
    max: sorted.at(-1) ?? Number.NEGATIVE_INFINITY,
    high,
    low,
    m2,
    scale,
  };
}

function sums(numbers: readonly number[], finite: number, scale: number): [number, number, number] {
  let high = 0;
  let low = 0;
  for (const number of numbers) {
    const x = number * scale;
    if (x - x !== 0) continue;
    const next = high + x;
    const part = next - high;
    low += high - (next - part) + (x - part);
    high = next;
  }
  const about = high / finite;
  let squares = 0;
  let apart = 0;
  for (let from = 0; from < numbers.length; from += BLOCK) {
    let some = 0;
    let off = 0;
    for (const number of numbers.slice(from, from + BLOCK)) {
      const d = number * scale - about;
      if (d - d !== 0) continue;
      some += d * d;
      off += d;
    }
    squares += some;
    apart += off;
  }
  return [high, low, squares - (apart * apart) / finite];
}
