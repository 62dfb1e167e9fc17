// Law: keeps, in order, the values whose time t has first <= t <= last; times stay as they are.
//      Values are moved as bits, so NaN payloads survive.
// Domain: any count; times any i64; first <= last. `out` may be `values`. Writes up to 16 bytes past the last value kept,
//      not past the values read where it is in place. Bound: exact; branch-free, so a random mask costs what any costs.
//
//   bounds:  0 first   8 last      i64 each

import { pack } from "./pack";

/** Answers how many values were kept. */
export function mask32(times: usize, values: usize, count: usize, bounds: usize, out: usize): u32 {
  return mask<u32>(times, values, count, bounds, out);
}

/** Answers how many values were kept. */
export function mask64(times: usize, values: usize, count: usize, bounds: usize, out: usize): u32 {
  return mask<u64>(times, values, count, bounds, out);
}

function mask<K>(times: usize, values: usize, count: usize, bounds: usize, out: usize): u32 {
  const first = load<i64>(bounds);
  const span = load<u64>(bounds, 8) - <u64>first;
  let t = times;
  let v = values;
  let to = out;
  const end = times + (count << 3);
  if (ASC_FEATURE_SIMD) {
    // Moved so that `first` is the smallest of all i64: one comparison tells both ends.
    const shift = i64x2.splat(i64.MIN_VALUE - first);
    const limit = i64x2.splat(i64.MIN_VALUE + <i64>span);
    for (const whole = end - ((end - t) & 31); t < whole; t += 32) {
      const a = i64x2.gt_s(i64x2.add(v128.load(t), shift), limit);
      const b = i64x2.gt_s(i64x2.add(v128.load(t, 16), shift), limit);
      const x = v128.load(v);
      if (sizeof<K>() === 4) {
        to = pack(x, v128.not(v128.shuffle<u32>(a, b, 0, 2, 4, 6)), to);
        v += 16;
      } else {
        const y = v128.load(v, 16);
        to = pack(y, v128.not(b), pack(x, v128.not(a), to));
        v += 32;
      }
    }
  }
  for (; t < end; t += 8, v += sizeof<K>()) {
    store<K>(to, load<K>(v));
    to += (<usize>(<u64>(load<i64>(t) - first) <= span)) * sizeof<K>();
  }
  return <u32>((to - out) / sizeof<K>());
}
