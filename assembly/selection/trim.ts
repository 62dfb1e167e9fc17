// Law: keeps, in order, the pairs whose time t has first <= t <= last; both columns are compacted in place.
//      Values are moved as bits, so NaN payloads survive.
// Domain: any count; times any i64. Bound: exact. It has no branches, so a random mask costs as much as a sorted one.
//
//   bounds:  0 first   8 last      i64 each

import { pack } from "./pack";

/** Returns the number of kept pairs. */
export function trim32(times: usize, values: usize, count: usize, bounds: usize): u32 {
  return trim<u32>(times, values, count, bounds);
}

/** Returns the number of kept pairs. */
export function trim64(times: usize, values: usize, count: usize, bounds: usize): u32 {
  return trim<u64>(times, values, count, bounds);
}

function trim<K>(times: usize, values: usize, count: usize, bounds: usize): u32 {
  const first = load<i64>(bounds);
  const last = load<i64>(bounds + 8);
  let t = times;
  let v = values;
  let keptTimes = times;
  let keptValues = values;
  const end = times + (count << 3);
  // A vector is never written past the vectors that were read.
  if (ASC_FEATURE_SIMD) {
    const lower = i64x2.splat(first);
    const upper = i64x2.splat(last);
    for (const whole = end - ((end - t) & 31); t < whole; t += 32) {
      const a = v128.load(t);
      const b = v128.load(t, 16);
      const insideA = v128.and(i64x2.ge_s(a, lower), i64x2.le_s(a, upper));
      const insideB = v128.and(i64x2.ge_s(b, lower), i64x2.le_s(b, upper));
      keptTimes = pack(b, insideB, pack(a, insideA, keptTimes));
      const x = v128.load(v);
      if (sizeof<K>() === 4) {
        const inside = v128.shuffle<u32>(insideA, insideB, 0, 2, 4, 6);
        keptValues = pack(x, inside, keptValues);
        v += 16;
      } else {
        const y = v128.load(v, 16);
        keptValues = pack(y, insideB, pack(x, insideA, keptValues));
        v += 32;
      }
    }
  }
  for (; t < end; t += 8, v += sizeof<K>()) {
    const instant = load<i64>(t);
    const bits = load<K>(v);
    store<i64>(keptTimes, instant);
    store<K>(keptValues, bits);
    const inside = <usize>(instant >= first) & <usize>(instant <= last);
    keptTimes += inside << 3;
    keptValues += inside * sizeof<K>();
  }
  return <u32>((keptTimes - times) >> 3);
}
