// Law: one record for each block of 4096 values (the last may be shorter).
//      The sum of its finite values, in 8 TwoSum lanes (lanes.ts) folded by TwoSum.
//      Min and max, without NaN, with infinities.
//      Squares about `about`, the mean of the previous block, in 8 plain lanes (squares.ts). Where that mean is off by more
//      than half a standard deviation, or a value is not finite, squares are about the block's own mean, sum / finite count.
//      Where an f64 holds every sum of a block's f32 values, plain additions equal TwoSum and replace it.
// Domain: any count. The counts include -0 and +0 where min or max is zero. An f64 sum out of range is not finite.
// Bound: that of lanes.ts for the sum. Squares: (4096 / 8 + 5) * 2^-53 relative, about `about`.
// Source: Chan, Golub, LeVeque 1983 (shifted data); the host merges the blocks (src/engine/kernel/passes/merge.ts).
//
//   records, 80 bytes a block:
//     0 sum, high   8 sum, low   16 squares   24 about   32 min   40 max          f64
//     48 NaN   52 +Infinity   56 -Infinity   60 -0   64 +0                        u32; zeros: 0 none, else some. An f64
//                                                                                 block with min < 0 < max: not counted
//   scratch: 0 high[8]   64 low[8]   128 squares[8]   192 min   200 max   208 extrema; 240 bytes

import { leastSize } from "../least-size";
import { census } from "../selection/census";
import { lanes } from "./lanes";
import { plain } from "./plain";
import { foldPlain, squares } from "./squares";

const BLOCK: usize = 4096;
const RECORD: usize = 80;

/** Returns the mean of the last block, which the next block's squares are about. NaN: none yet. */
export function fold32(from: usize, count: usize, about: f64, records: usize, scratch: usize): f64 {
  return fold<f32, i32>(from, count, about, records, scratch);
}

/** Returns the mean of the last block, which the next block's squares are about. NaN: none yet. */
export function fold64(from: usize, count: usize, about: f64, records: usize, scratch: usize): f64 {
  return fold<f64, i64>(from, count, about, records, scratch);
}

function fold<T, I>(from: usize, count: usize, about: f64, records: usize, scratch: usize): f64 {
  let mean = about;
  for (let begin: usize = 0; begin < count; begin += BLOCK, records += RECORD)
    mean = block<T, I>(from + begin * sizeof<T>(), min<usize>(BLOCK, count - begin), mean, records, scratch);
  return mean;
}

function block<T, I>(from: usize, count: usize, before: f64, record: usize, scratch: usize): f64 {
  plain<T>(from, count, before, scratch);
  memory.fill(record + 48, 0, 24);
  let about = before;
  let squared = foldPlain(scratch + 128);
  let high = foldPlain(scratch);
  let low: f64 = 0;
  let finite = <f64>count;
  const whole = abs(high) < Infinity;
  if (!whole) {
    census<T, I>(from, count, record + 48);
    finite -= <f64>load<u32>(record, 48) + <f64>load<u32>(record, 52) + <f64>load<u32>(record, 56);
    about = NaN;
  }
  if (!whole || !holds<T, I>(from, count, record, scratch)) {
    high = lanes<T>(from, count, scratch);
    low = load<f64>(scratch, 64);
  }
  const mean = high / finite;
  const apart = mean - about;
  if (!(finite * apart * apart <= 0.25 * squared && squared < Infinity)) {
    about = finite > 0 ? mean : 0;
    squared = squares<T>(from, count, about, scratch + 128);
  }
  store<f64>(record, high);
  store<f64>(record, low, 8);
  store<f64>(record, squared, 16);
  store<f64>(record, about, 24);
  store<f64>(record, load<f64>(scratch, 192), 32);
  store<f64>(record, load<f64>(scratch, 200), 40);
  return mean;
}

/** True when an f64 holds every sum of the block's finite values, in any order. Also looks for zeros. */
function holds<T, I>(from: usize, count: usize, record: usize, scratch: usize): bool {
  const least = load<f64>(scratch, 192);
  const most = load<f64>(scratch, 200);
  if (sizeof<T>() === 8) {
    if (least === 0 || most === 0) census<T, I>(from, count, record + 48);
    else if (least < 0 && most > 0) store<u64>(record, 0x100000001, 60);
    return false;
  }
  let size: u32;
  if (least > 0) size = reinterpret<u32>(<f32>least);
  else if (most < 0) size = reinterpret<u32>(<f32>-most);
  else size = leastSize(from, count, record + 60, scratch);
  // All values are multiples of the last place of the smallest, 2^(exponent - 150). An f64 holds 2^53 such multiples.
  const exponent = max<u32>(size >> 23, 1);
  return <f64>count * max<f64>(-least, most) <= reinterpret<f64>((<u64>(exponent + 926)) << 52);
}
