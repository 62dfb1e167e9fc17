// Law: value i is added to lane i mod 8 by TwoSum (high takes the rounded sum, low gathers what rounding lost), in f64;
//      values that are not finite are added as +0. Lanes are folded 0, 1, ... 7 by TwoSum.
// Domain: any count, 0 included; f64 sums must stay in range (else high is not finite, and the host sums again).
// Bound: |high + low - exact sum of the lane| <= m^2 * 2^-106 * sum |x| for m values in the lane.
// Source: Knuth TAOCP 2, 4.2.2 (TwoSum); Ogita, Rump, Oishi 2005, algorithm Sum2.
//
//   scratch:  0 high[8]   64 low[8], then the low part of the answer      f64, 128 bytes

const LOW: usize = 64;

/** Returns the high part of the sum. */
export function lanes<T>(from: usize, count: usize, scratch: usize): f64 {
  memory.fill(scratch, 0, 2 * LOW);
  let whole: usize = 0;
  if (ASC_FEATURE_SIMD) {
    whole = count & ~7;
    vectors<T>(from, whole, scratch);
  }
  strides<T>(from + whole * sizeof<T>(), count - whole, scratch);
  let sum: f64 = 0;
  let low: f64 = 0;
  for (let at = scratch; at < scratch + LOW; at += 8) {
    const x = load<f64>(at);
    const next = sum + x;
    low += lost(sum, x, next) + load<f64>(at + LOW);
    sum = next;
  }
  const high = sum + low;
  store<f64>(scratch, low - (high - sum), LOW);
  return high;
}

/** The rounding error of high + x = sum. */
function lost(high: f64, x: f64, sum: f64): f64 {
  const part = sum - high;
  return high - (sum - part) + (x - part);
}

function strides<T>(from: usize, count: usize, scratch: usize): void {
  const end = from + count * sizeof<T>();
  for (let lane: usize = 0; lane < 8; lane++) {
    const at = scratch + lane * 8;
    let high = load<f64>(at);
    let low = load<f64>(at + LOW);
    for (let p = from + lane * sizeof<T>(); p < end; p += 8 * sizeof<T>()) {
      const value = <f64>load<T>(p);
      const x = abs(value) < Infinity ? value : 0;
      const sum = high + x;
      low += lost(high, x, sum);
      high = sum;
    }
    store<f64>(at, high);
    store<f64>(at + LOW, low);
  }
}

function lostPair(high: v128, x: v128, sum: v128): v128 {
  const part = f64x2.sub(sum, high);
  return f64x2.add(f64x2.sub(high, f64x2.sub(sum, part)), f64x2.sub(x, part));
}

/** `count` is a multiple of 8; vector j of four holds lanes 2j and 2j + 1. */
function vectors<T>(from: usize, count: usize, scratch: usize): void {
  const bound = v128.splat<T>(<T>Infinity);
  let h0 = f64x2.splat(0);
  let h1 = f64x2.splat(0);
  let h2 = f64x2.splat(0);
  let h3 = f64x2.splat(0);
  let l0 = f64x2.splat(0);
  let l1 = f64x2.splat(0);
  let l2 = f64x2.splat(0);
  let l3 = f64x2.splat(0);
  for (let p = from, end = from + count * sizeof<T>(); p < end; p += 8 * sizeof<T>()) {
    let x0 = v128.load(p);
    let x1 = v128.load(p + 16);
    let x2: v128;
    let x3: v128;
    const m0 = v128.lt<T>(v128.abs<T>(x0), bound);
    const m1 = v128.lt<T>(v128.abs<T>(x1), bound);
    x0 = v128.and(x0, m0);
    x1 = v128.and(x1, m1);
    if (sizeof<T>() === 4) {
      x2 = f64x2.promote_low_f32x4(x1);
      x3 = f64x2.promote_low_f32x4(v128.shuffle<u64>(x1, x1, 1, 0));
      x1 = f64x2.promote_low_f32x4(v128.shuffle<u64>(x0, x0, 1, 0));
      x0 = f64x2.promote_low_f32x4(x0);
    } else {
      x2 = v128.load(p + 32);
      x3 = v128.load(p + 48);
      const m2 = v128.lt<T>(v128.abs<T>(x2), bound);
      const m3 = v128.lt<T>(v128.abs<T>(x3), bound);
      x2 = v128.and(x2, m2);
      x3 = v128.and(x3, m3);
    }
    const s0 = f64x2.add(h0, x0);
    const s1 = f64x2.add(h1, x1);
    const s2 = f64x2.add(h2, x2);
    const s3 = f64x2.add(h3, x3);
    l0 = f64x2.add(l0, lostPair(h0, x0, s0));
    l1 = f64x2.add(l1, lostPair(h1, x1, s1));
    l2 = f64x2.add(l2, lostPair(h2, x2, s2));
    l3 = f64x2.add(l3, lostPair(h3, x3, s3));
    h0 = s0;
    h1 = s1;
    h2 = s2;
    h3 = s3;
  }
  v128.store(scratch, h0);
  v128.store(scratch, h1, 16);
  v128.store(scratch, h2, 32);
  v128.store(scratch, h3, 48);
  v128.store(scratch + LOW, l0);
  v128.store(scratch + LOW, l1, 16);
  v128.store(scratch + LOW, l2, 32);
  v128.store(scratch + LOW, l3, 48);
}
