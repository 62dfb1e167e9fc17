import type { Column } from "../contract.ts";
import type { Block } from "../passes.ts";
import { census } from "./census.ts";
import { lanes } from "./lanes.ts";
import { foldPlain, squares } from "./squares.ts";
import { BLOCK, widen } from "./widen.ts";

const sums = new Float64Array(8);
const squared = new Float64Array(8);
let least = 0;
let most = 0;

/** The JS form of assembly/fold.ts: the same blocks, and the same choice of what the squares are about. */
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
  least = Number.POSITIVE_INFINITY;
  most = Number.NEGATIVE_INFINITY;
  plain(values, before, 0);
  plain(values, before, 4);
  let about = before;
  let squaresAbout = foldPlain(squared);
  let high = foldPlain(sums);
  let low = 0;
  const count = values.length;
  const finite = high - high === 0;
  const special = !finite || (least <= 0 && most >= 0) ? census(values) : undefined;
  const numbers = special ? count - special.nan - special.positiveInfinity - special.negativeInfinity : count;
  if (!finite) about = Number.NaN;
  if (!finite || !(narrow && holds(values))) [high, low] = lanes(values);
  const mean = high / numbers;
  const apart = mean - about;
  if (!(numbers * apart * apart <= 0.25 * squaresAbout && squaresAbout < Number.POSITIVE_INFINITY)) {
    about = numbers > 0 ? mean : 0;
    squaresAbout = squares(values, about);
  }
  take({ count, sumHigh: high, sumLow: low, squares: squaresAbout, about, min: least, max: most, census: special });
  return mean;
}

/** Four of the eight lanes of assembly/plain.ts, from lane `first` on. */
function plain(values: Float64Array, about: number, first: number): void {
  const end = values.length;
  let [s0, s1, s2, s3, q0, q1, q2, q3] = [0, 0, 0, 0, 0, 0, 0, 0];
  let low = least;
  let high = most;
  let i = first;
  for (; i + 3 < end; i += 8) {
    const a = values[i]!;
    const b = values[i + 1]!;
    const c = values[i + 2]!;
    const d = values[i + 3]!;
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
  for (let lane = 0; i < end && lane < 4; i++, lane++) {
    const x = values[i]!;
    if (x < low) low = x;
    if (x > high) high = x;
    const square = (x - about) * (x - about);
    if (lane === 0) [s0, q0] = [s0 + x, q0 + square];
    else if (lane === 1) [s1, q1] = [s1 + x, q1 + square];
    else [s2, q2] = [s2 + x, q2 + square];
  }
  sums[first] = s0;
  sums[first + 1] = s1;
  sums[first + 2] = s2;
  sums[first + 3] = s3;
  squared[first] = q0;
  squared[first + 1] = q1;
  squared[first + 2] = q2;
  squared[first + 3] = q3;
  least = low;
  most = high;
}

/** Whether every sum of finite values that f32 can hold, in whatever order, is a number of f64. */
function holds(values: Float64Array): boolean {
  let size = least > 0 ? least : -most;
  if (!(size > 0)) {
    size = Number.POSITIVE_INFINITY;
    for (let i = 0; i < values.length; i++) {
      const x = Math.abs(values[i]!);
      if (x < size && x > 0) size = x;
    }
  }
  // All are multiples of the smallest one's last place, which is more than size * 2^-24, and 2^-149 at least.
  return values.length * Math.max(-least, most) <= Math.max(size * 2 ** -24, 2 ** -149) * 2 ** 53;
}
