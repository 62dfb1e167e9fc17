// Law: copies the values from `first` to `last`, both included, in order; counts those below `first`; tells NaN.
// Domain: any count; limits of the column's type, infinities allowed; first > last chooses nothing. -0 equals +0. A NaN
//      is not copied, but counts as below. `out` may be `from`. Bound: exact. Writes up to 16 bytes past the last value.
// Source: the one pass of Floyd and Rivest 1975 (SELECT) over a sampled bracket; compaction by byte shuffle.
//
//   out: room for the values copied, or (first > last) for those equal to `first`, + 16 bytes
//       tally: 0 below, 4 all are numbers (1 or 0), u32 each; 228 bytes used
//
// A tile is read twice: once to count and to list the blocks that hold a chosen value, once more to copy from those.
// Neither loop branches on a value, so data cannot make the processor guess wrong.

import { countOf } from "./memory";
import { pack } from "./pack";

/** Where the addresses of a tile's blocks are listed, and one place more: 49 u32. */
const LIST: usize = 32;
const BLOCK: usize = 32;
const TILE: usize = 48 * BLOCK;

/** Answers how many values were copied. */
export function collect32(from: usize, count: usize, first: f32, last: f32, out: usize, tally: usize): u32 {
  return collect<f32, i32>(from, count, first, last, out, tally);
}

/** Answers how many values were copied. */
export function collect64(from: usize, count: usize, first: f64, last: f64, out: usize, tally: usize): u32 {
  return collect<f64, i64>(from, count, first, last, out, tally);
}

function collect<T, I>(from: usize, count: usize, first: T, last: T, out: usize, tally: usize): u32 {
  let p = from;
  let to = out;
  let atLeast: u32 = 0;
  let atMost: u32 = 0;
  // A number is on one side or inside, on both: with `limit` not below `first`, what is on no side is a NaN.
  const limit = max<T>(first, last);
  const end = from + count * sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    const lower = v128.splat<T>(first);
    const upper = v128.splat<T>(limit);
    let above = i64x2.splat(0);
    let under = i64x2.splat(0);
    const whole = end - ((end - p) & (BLOCK - 1));
    while (p < whole) {
      const tile = min<usize>(p + TILE, whole);
      let listed = tally + LIST;
      for (; p < tile; p += BLOCK) {
        const a = v128.load(p);
        const b = v128.load(p, 16);
        const fromA = v128.ge<T>(a, lower);
        const fromB = v128.ge<T>(b, lower);
        const upToA = v128.le<T>(a, upper);
        const upToB = v128.le<T>(b, upper);
        above = v128.sub<I>(v128.sub<I>(above, fromA), fromB);
        under = v128.sub<I>(v128.sub<I>(under, upToA), upToB);
        const inside = v128.or(v128.and(fromA, upToA), v128.and(fromB, upToB));
        store<u32>(listed, <u32>p);
        listed += (<usize>v128.any_true(inside)) << 2;
      }
      for (let entry = tally + LIST; entry < listed; entry += 4) {
        const at = <usize>load<u32>(entry);
        const a = v128.load(at);
        const b = v128.load(at, 16);
        to = pack(a, v128.and(v128.ge<T>(a, lower), v128.le<T>(a, upper)), to);
        to = pack(b, v128.and(v128.ge<T>(b, lower), v128.le<T>(b, upper)), to);
      }
    }
    atLeast = countOf<I>(above, tally + 16);
    atMost = countOf<I>(under, tally + 16);
  }
  for (; p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    store<T>(to, x);
    to += (<usize>(x >= first) & <usize>(x <= limit)) * sizeof<T>();
    atLeast += u32(x >= first);
    atMost += u32(x <= limit);
  }
  const copied = <u32>((to - out) / sizeof<T>());
  store<u32>(tally, <u32>count - atLeast);
  store<u32>(tally, u32(atLeast + atMost - copied === <u32>count), 4);
  return first > last ? 0 : copied;
}
