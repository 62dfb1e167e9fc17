// Law: copies the values strictly between two limits, in order, and counts those at or below the lower limit.
// Domain: any count; limits of the column's type, infinities allowed; NaN is neither counted nor copied.
// Bound: exact. Writes up to 16 bytes past the last value copied.
// Source: the one pass of Floyd and Rivest 1975 (SELECT) over a sampled bracket; compaction by byte shuffle.
//
//   out: room for the values copied + 16 bytes      tally: u32 at or below the lower limit; 16 bytes used

import { countOf } from "./memory";

/** Answers how many values were copied. */
export function collect32(from: usize, count: usize, low: f32, high: f32, out: usize, tally: usize): u32 {
  return collect<f32, i32>(from, count, low, high, out, tally);
}

/** Answers how many values were copied. */
export function collect64(from: usize, count: usize, low: f64, high: f64, out: usize, tally: usize): u32 {
  return collect<f64, i64>(from, count, low, high, out, tally);
}

function collect<T, I>(from: usize, count: usize, low: T, high: T, out: usize, tally: usize): u32 {
  let p = from;
  let to = out;
  let atMost: u32 = 0;
  const end = from + count * sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    const lower = v128.splat<T>(low);
    const upper = v128.splat<T>(high);
    let counters = i64x2.splat(0);
    for (const whole = end - ((end - p) & 31); p < whole; p += 32) {
      const a = v128.load(p);
      const b = v128.load(p + 16);
      counters = v128.sub<I>(v128.sub<I>(counters, v128.le<T>(a, lower)), v128.le<T>(b, lower));
      const insideA = v128.and(v128.gt<T>(a, lower), v128.lt<T>(a, upper));
      const insideB = v128.and(v128.gt<T>(b, lower), v128.lt<T>(b, upper));
      if (v128.any_true(v128.or(insideA, insideB))) {
        to = pack<T>(a, insideA, to);
        to = pack<T>(b, insideB, to);
      }
    }
    atMost = countOf<I>(counters, tally);
  }
  for (; p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    store<T>(to, x);
    to += (<usize>(x > low) & <usize>(x < high)) * sizeof<T>();
    atMost += u32(x <= low);
  }
  store<u32>(tally, atMost);
  return <u32>((to - out) / sizeof<T>());
}

/** Stores the chosen lanes side by side and answers the place after them. */
function pack<T>(values: v128, chosen: v128, to: usize): usize {
  if (sizeof<T>() === 4) {
    const mask = i32x4.bitmask(chosen);
    v128.store(to, v128.swizzle(values, v128.load(PLACES + ((<usize>mask) << 4))));
    return to + ((<usize>popcnt(mask)) << 2);
  }
  const mask = i64x2.bitmask(chosen);
  v128.store(to, mask === 2 ? v128.shuffle<u64>(values, values, 1, 0) : values);
  return to + ((<usize>popcnt(mask)) << 3);
}

// Row m: the bytes of the lanes whose bit is set in m, moved to the front (255 gives 0).
// biome-ignore format: one row a mask
const PLACES = memory.data<u8>([
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  0, 1, 2, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  4, 5, 6, 7, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  0, 1, 2, 3, 4, 5, 6, 7, 255, 255, 255, 255, 255, 255, 255, 255,
  8, 9, 10, 11, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  0, 1, 2, 3, 8, 9, 10, 11, 255, 255, 255, 255, 255, 255, 255, 255,
  4, 5, 6, 7, 8, 9, 10, 11, 255, 255, 255, 255, 255, 255, 255, 255,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255, 255, 255, 255,
  12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  0, 1, 2, 3, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255,
  4, 5, 6, 7, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255,
  0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 255, 255, 255, 255,
  8, 9, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255,
  0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255,
  4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
], 16);
