// The yardstick of a selection: one pass that adds f32 values up in f64, with vectors and without compensation.

export function sum(from: usize, count: usize): f64 {
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let c = f64x2.splat(0);
  let d = f64x2.splat(0);
  for (const end = from + (count & ~7) * 4; from < end; from += 32) {
    a = f64x2.add(a, f64x2.promote_low_f32x4(v128.load64_zero(from)));
    b = f64x2.add(b, f64x2.promote_low_f32x4(v128.load64_zero(from, 8)));
    c = f64x2.add(c, f64x2.promote_low_f32x4(v128.load64_zero(from, 16)));
    d = f64x2.add(d, f64x2.promote_low_f32x4(v128.load64_zero(from, 24)));
  }
  const all = f64x2.add(f64x2.add(a, b), f64x2.add(c, d));
  return f64x2.extract_lane(all, 0) + f64x2.extract_lane(all, 1);
}
