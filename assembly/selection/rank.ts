// Law: how many values are below a limit, equal to it, and above it (-0 equals +0; NaN is none of these).
// Domain: any count below 2^31; the limit in the column's type (the host rounds it, src/engine/kernel/passes/kernel-of.ts).
// Bound: exact.
//
//   out:  0 below   4 equal   8 above      u32 each; 32 bytes used (scratch from 16)

import { countOf } from "../memory";

export function rank32(from: usize, count: usize, limit: f32, out: usize): void {
  rank<f32, i32>(from, count, limit, out);
}

export function rank64(from: usize, count: usize, limit: f64, out: usize): void {
  rank<f64, i64>(from, count, limit, out);
}

function rank<T, I>(from: usize, count: usize, limit: T, out: usize): void {
  let below: u32 = 0;
  let equal: u32 = 0;
  let above: u32 = 0;
  let p = from;
  const end = from + count * sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    const bound = v128.splat<T>(limit);
    let less = i64x2.splat(0);
    let same = i64x2.splat(0);
    let more = i64x2.splat(0);
    for (const whole = end - ((end - p) & 15); p < whole; p += 16) {
      const x = v128.load(p);
      less = v128.sub<I>(less, v128.lt<T>(x, bound));
      same = v128.sub<I>(same, v128.eq<T>(x, bound));
      more = v128.sub<I>(more, v128.gt<T>(x, bound));
    }
    below = countOf<I>(less, out + 16);
    equal = countOf<I>(same, out + 16);
    above = countOf<I>(more, out + 16);
  }
  for (; p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    below += u32(x < limit);
    equal += u32(x === limit);
    above += u32(x > limit);
  }
  store<u32>(out, below);
  store<u32>(out + 4, equal);
  store<u32>(out + 8, above);
}
