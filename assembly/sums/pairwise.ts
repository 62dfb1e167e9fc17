// Law: NumPy's pairwise sum. Every step is rounded to the column's own type. Fewer than 8 values are added in sequence. Up
//      to 128 are added in eight lanes, folded as ((0+1)+(2+3))+((4+5)+(6+7)), and the remainder follows. More values are
//      split at count/2, rounded down to a multiple of 8. The result is +0 plus that sum, so an empty column gives +0, and
//      so does one of -0 only.
// Domain: any count; NaN and infinities by IEEE arithmetic. Addresses are multiples of the value's size.
// Bound: relative error of about (16 + log2(count / 128)) roundings of the type, over sum |x|.
// Source: numpy/_core/src/umath/loops_utils.h.src (pairwise_sum), NumPy 2.4.

export function pairwiseSum32(from: usize, count: usize): f32 {
  return <f32>0 + pairwise<f32>(from, count);
}

export function pairwiseSum64(from: usize, count: usize): f64 {
  return 0 + pairwise<f64>(from, count);
}

function pairwise<T>(from: usize, count: usize): T {
  if (count < 8) {
    let sum = <T>-0.0;
    for (let i: usize = 0; i < count; i++) sum += load<T>(from + i * sizeof<T>());
    return sum;
  }
  if (count <= 128) return block<T>(from, count);
  const half = (count >> 1) & ~7;
  return pairwise<T>(from, half) + pairwise<T>(from + half * sizeof<T>(), count - half);
}

function block<T>(from: usize, count: usize): T {
  const end = from + count * sizeof<T>();
  const whole = from + (count & ~7) * sizeof<T>();
  let p = from;
  let sum: T;
  if (ASC_FEATURE_SIMD) {
    if (sizeof<T>() === 4) {
      let a = v128.load(p);
      let b = v128.load(p + 16);
      for (p += 32; p < whole; p += 32) {
        a = f32x4.add(a, v128.load(p));
        b = f32x4.add(b, v128.load(p + 16));
      }
      // Neighbours are added in their own lanes 0 and 2, then across.
      a = f32x4.add(a, v128.shuffle<u32>(a, a, 1, 1, 3, 3));
      b = f32x4.add(b, v128.shuffle<u32>(b, b, 1, 1, 3, 3));
      sum = <T>(
        (f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 2) + (f32x4.extract_lane(b, 0) + f32x4.extract_lane(b, 2)))
      );
    } else {
      let a = v128.load(p);
      let b = v128.load(p + 16);
      let c = v128.load(p + 32);
      let d = v128.load(p + 48);
      for (p += 64; p < whole; p += 64) {
        a = f64x2.add(a, v128.load(p));
        b = f64x2.add(b, v128.load(p + 16));
        c = f64x2.add(c, v128.load(p + 32));
        d = f64x2.add(d, v128.load(p + 48));
      }
      sum = <T>(both(a) + both(b) + (both(c) + both(d)));
    }
  } else {
    const size = sizeof<T>();
    let r0 = load<T>(p);
    let r1 = load<T>(p + size);
    let r2 = load<T>(p + size * 2);
    let r3 = load<T>(p + size * 3);
    let r4 = load<T>(p + size * 4);
    let r5 = load<T>(p + size * 5);
    let r6 = load<T>(p + size * 6);
    let r7 = load<T>(p + size * 7);
    for (p += size * 8; p < whole; p += size * 8) {
      r0 += load<T>(p);
      r1 += load<T>(p + size);
      r2 += load<T>(p + size * 2);
      r3 += load<T>(p + size * 3);
      r4 += load<T>(p + size * 4);
      r5 += load<T>(p + size * 5);
      r6 += load<T>(p + size * 6);
      r7 += load<T>(p + size * 7);
    }
    sum = r0 + r1 + (r2 + r3) + (r4 + r5 + (r6 + r7));
  }
  for (; p < end; p += sizeof<T>()) sum += load<T>(p);
  return sum;
}

function both(pair: v128): f64 {
  return f64x2.extract_lane(pair, 0) + f64x2.extract_lane(pair, 1);
}
