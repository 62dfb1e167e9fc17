// Law: keeps, in order, the values whose time t satisfies first <= t <= last. The times are not changed.
//      Values are moved as bits, so NaN payloads survive.
// Domain: any count, any i64 times, first <= last. `out` may be `values`. The kernel writes up to 16 bytes past the last
//      kept value. In place it never writes past the values it has read.
// Bound: exact. The only branch is for eight values that are all inside, the common case. With a random mask that branch
//      costs up to half a nanosecond a value.
//
//   bounds:  0 first   8 last      i64 each

import { pack } from "./selection/pack";

/** Returns the number of kept values. */
export function mask32(times: usize, values: usize, count: usize, bounds: usize, out: usize): u32 {
  return mask<u32>(times, values, count, bounds, out);
}

/** Returns the number of kept values. */
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
    // Times are shifted so that `first` becomes the smallest i64. One comparison then checks both ends.
    const shift = i64x2.splat(i64.MIN_VALUE - first);
    const limit = i64x2.splat(i64.MIN_VALUE + <i64>span);
    for (const whole = end - ((end - t) & 63); t < whole; t += 64) {
      const a = i64x2.gt_s(i64x2.add(v128.load(t), shift), limit);
      const b = i64x2.gt_s(i64x2.add(v128.load(t, 16), shift), limit);
      const c = i64x2.gt_s(i64x2.add(v128.load(t, 32), shift), limit);
      const d = i64x2.gt_s(i64x2.add(v128.load(t, 48), shift), limit);
      const outside = v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)));
      const x = v128.load(v);
      const y = v128.load(v, 16);
      if (sizeof<K>() === 4) {
        if (outside) {
          to = pack(x, v128.not(v128.shuffle<u32>(a, b, 0, 2, 4, 6)), to);
          to = pack(y, v128.not(v128.shuffle<u32>(c, d, 0, 2, 4, 6)), to);
        } else {
          v128.store(to, x);
          v128.store(to, y, 16);
          to += 32;
        }
        v += 32;
      } else {
        const z = v128.load(v, 32);
        const w = v128.load(v, 48);
        if (outside) {
          to = pack(y, v128.not(b), pack(x, v128.not(a), to));
          to = pack(w, v128.not(d), pack(z, v128.not(c), to));
        } else {
          v128.store(to, x);
          v128.store(to, y, 16);
          v128.store(to, z, 32);
          v128.store(to, w, 48);
          to += 64;
        }
        v += 64;
      }
    }
  }
  for (; t < end; t += 8, v += sizeof<K>()) {
    store<K>(to, load<K>(v));
    to += <usize>(<u64>(load<i64>(t) - first) <= span) * sizeof<K>();
  }
  return <u32>((to - out) / sizeof<K>());
}
