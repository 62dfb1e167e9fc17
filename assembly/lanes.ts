// Law: value i is added to lane i mod 8 by TwoSum (high takes the rounded sum, low gathers what rounding lost), in f64.
//      Values that are not finite are added as +0. min and max skip NaN and take infinities; which of two zeros they
//      give is left to the host. The host folds the lanes (src/kernel/summary.ts).
// Domain: any count, 0 included; f64 sums must stay in range (else high is not finite, and the host sums again).
// Bound: |high + low - exact sum of the lane| <= m^2 * 2^-106 * sum |x| for m values in the lane.
// Source: Knuth TAOCP 2, 4.2.2 (TwoSum); Ogita, Rump, Oishi 2005, algorithm Sum2.
//
//   out:  0 high[8]   64 low[8]   128 min   136 max   144 all finite (1 or 0)      all f64, 152 bytes

const LOW: usize = 64;
const MIN: usize = 128;
const MAX: usize = 136;
const FINITE: usize = 144;

export function lanes32(from: usize, count: usize, out: usize): void {
  lanes<f32>(from, count, out);
}

export function lanes64(from: usize, count: usize, out: usize): void {
  lanes<f64>(from, count, out);
}

function lanes<T>(from: usize, count: usize, out: usize): void {
  memory.fill(out, 0, MIN);
  store<f64>(out + MIN, Infinity);
  store<f64>(out + MAX, -Infinity);
  store<f64>(out + FINITE, 1);
  if (ASC_FEATURE_SIMD) {
    const whole = count & ~7;
    vectors<T>(from, whole, out);
    strides<T>(from + whole * sizeof<T>(), count - whole, out);
    return;
  }
  // Blocks stay in the first-level cache while each lane walks over them.
  for (let begin: usize = 0; begin < count; begin += 2048)
    strides<T>(from + begin * sizeof<T>(), min<usize>(2048, count - begin), out);
}

/** What rounding lost in high + x = sum. */
function lost(high: f64, x: f64, sum: f64): f64 {
  const part = sum - high;
  return high - (sum - part) + (x - part);
}

function strides<T>(from: usize, count: usize, out: usize): void {
  let least = load<f64>(out + MIN);
  let most = load<f64>(out + MAX);
  const end = from + count * sizeof<T>();
  for (let lane: usize = 0; lane < 8; lane++) {
    const at = out + lane * 8;
    let high = load<f64>(at);
    let low = load<f64>(at + LOW);
    for (let p = from + lane * sizeof<T>(); p < end; p += 8 * sizeof<T>()) {
      let x = <f64>load<T>(p);
      least = select(x, least, x < least);
      most = select(x, most, x > most);
      if (!(abs(x) < Infinity)) {
        x = 0;
        store<f64>(out + FINITE, 0);
      }
      const sum = high + x;
      low += lost(high, x, sum);
      high = sum;
    }
    store<f64>(at, high);
    store<f64>(at + LOW, low);
  }
  store<f64>(out + MIN, least);
  store<f64>(out + MAX, most);
}

function lostPair(high: v128, x: v128, sum: v128): v128 {
  const part = f64x2.sub(sum, high);
  return f64x2.add(f64x2.sub(high, f64x2.sub(sum, part)), f64x2.sub(x, part));
}

/** `count` is a multiple of 8; vector j of four holds lanes 2j and 2j + 1. */
function vectors<T>(from: usize, count: usize, out: usize): void {
  const bound = v128.splat<T>(<T>Infinity);
  let least = bound;
  let most = v128.splat<T>(<T>-Infinity);
  let finite = i64x2.splat(-1);
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
    // pmin(a, b) is b < a ? b : a, so a NaN in b leaves a.
    least = v128.pmin<T>(v128.pmin<T>(least, x0), x1);
    most = v128.pmax<T>(v128.pmax<T>(most, x0), x1);
    const m0 = v128.lt<T>(v128.abs<T>(x0), bound);
    const m1 = v128.lt<T>(v128.abs<T>(x1), bound);
    finite = v128.and(finite, v128.and(m0, m1));
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
      least = v128.pmin<T>(v128.pmin<T>(least, x2), x3);
      most = v128.pmax<T>(v128.pmax<T>(most, x2), x3);
      const m2 = v128.lt<T>(v128.abs<T>(x2), bound);
      const m3 = v128.lt<T>(v128.abs<T>(x3), bound);
      finite = v128.and(finite, v128.and(m2, m3));
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
  v128.store(out, h0);
  v128.store(out, h1, 16);
  v128.store(out, h2, 32);
  v128.store(out, h3, 48);
  extrema<T>(least, most, out);
  v128.store(out + LOW, l0);
  v128.store(out + LOW, l1, 16);
  v128.store(out + LOW, l2, 32);
  v128.store(out + LOW, l3, 48);
  if (!i64x2.all_true(i64x2.eq(finite, i64x2.splat(-1)))) store<f64>(out + FINITE, 0);
}

/** Folds the vectors' lanes through the memory of low[], which is written after. */
function extrema<T>(least: v128, most: v128, out: usize): void {
  const scratch = out + LOW;
  v128.store(scratch, least);
  v128.store(scratch, most, 16);
  let low = Infinity;
  let high = -Infinity;
  for (let p = scratch; p < scratch + 16; p += sizeof<T>()) {
    low = min<f64>(low, <f64>load<T>(p));
    high = max<f64>(high, <f64>load<T>(p + 16));
  }
  store<f64>(out + MIN, low);
  store<f64>(out + MAX, high);
}
