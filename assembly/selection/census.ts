// Law: counts the values that arithmetic must treat apart: NaN, +Infinity, -Infinity, -0, +0.
// Domain: any count below 2^31, 0 included. Bound: exact.
//
//   out:  0 NaN   4 +Infinity   8 -Infinity   12 -0   16 +0        u32 each; 32 bytes used (scratch from 16)

import { countOf } from "../memory";

export function census32(from: usize, count: usize, out: usize): void {
  census<f32, i32>(from, count, out);
}

export function census64(from: usize, count: usize, out: usize): void {
  census<f64, i64>(from, count, out);
}

export function census<T, I>(from: usize, count: usize, out: usize): void {
  const sign = (<I>1) << (sizeof<I>() * 8 - 1);
  let nan: u32 = 0;
  let above: u32 = 0;
  let below: u32 = 0;
  let negative: u32 = 0;
  let positive: u32 = 0;
  let p = from;
  const end = from + count * sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    let n = i64x2.splat(0);
    let a = i64x2.splat(0);
    let b = i64x2.splat(0);
    let z = i64x2.splat(0);
    let y = i64x2.splat(0);
    for (const whole = end - ((end - p) & 15); p < whole; p += 16) {
      const x = v128.load(p);
      n = v128.sub<I>(n, v128.ne<T>(x, x));
      a = v128.sub<I>(a, v128.eq<T>(x, v128.splat<T>(<T>Infinity)));
      b = v128.sub<I>(b, v128.eq<T>(x, v128.splat<T>(<T>-Infinity)));
      z = v128.sub<I>(z, v128.eq<I>(x, v128.splat<I>(sign)));
      y = v128.sub<I>(y, v128.eq<I>(x, v128.splat<I>(0)));
    }
    nan = countOf<I>(n, out + 16);
    above = countOf<I>(a, out + 16);
    below = countOf<I>(b, out + 16);
    negative = countOf<I>(z, out + 16);
    positive = countOf<I>(y, out + 16);
  }
  for (; p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    const bits = load<I>(p);
    nan += u32(!(x <= <T>Infinity));
    above += u32(x === <T>Infinity);
    below += u32(x === <T>-Infinity);
    negative += u32(bits === sign);
    positive += u32(bits === 0);
  }
  store<u32>(out, nan);
  store<u32>(out + 4, above);
  store<u32>(out + 8, below);
  store<u32>(out + 12, negative);
  store<u32>(out + 16, positive);
}
