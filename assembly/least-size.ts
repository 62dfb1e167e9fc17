// Law: the bits of the smallest size |x| that is not zero (0 if all values are zero), and whether -0 and +0 occur.
// Domain: f32 without NaN, any count. Bound: exact.
//
//   zeros: 0 for -0, 4 for +0: u32, 1 if it occurs, else 0      scratch: 208 to 256

export function leastSize(from: usize, count: usize, zeros: usize, scratch: usize): u32 {
  // The bits without the sign, minus one, are largest for zero. The bits of -0 are the smallest i32, those of +0 the
  // smallest u32.
  let size: u32 = -1;
  let signed: i32 = i32.MAX_VALUE;
  let unsigned: u32 = -1;
  let p = from;
  const end = from + (count << 2);
  if (ASC_FEATURE_SIMD) {
    let a = i32x4.splat(-1);
    let b = i32x4.splat(i32.MAX_VALUE);
    let c = i32x4.splat(-1);
    for (const whole = end - ((end - p) & 15); p < whole; p += 16) {
      const x = v128.load(p);
      a = i32x4.min_u(a, i32x4.sub(i32x4.shl(x, 1), i32x4.splat(1)));
      b = i32x4.min_s(b, x);
      c = i32x4.min_u(c, x);
    }
    v128.store(scratch, a, 208);
    v128.store(scratch, b, 224);
    v128.store(scratch, c, 240);
    for (let q = scratch + 208; q < scratch + 224; q += 4) {
      size = min<u32>(size, load<u32>(q));
      signed = min<i32>(signed, load<i32>(q, 16));
      unsigned = min<u32>(unsigned, load<u32>(q, 32));
    }
  }
  for (; p < end; p += 4) {
    const x = load<u32>(p);
    size = min<u32>(size, (x << 1) - 1);
    signed = min<i32>(signed, <i32>x);
    unsigned = min<u32>(unsigned, x);
  }
  store<u32>(zeros, u32(signed === i32.MIN_VALUE));
  store<u32>(zeros, u32(unsigned === 0), 4);
  return (size + 1) >> 1;
}
