// Law: adds value i, and its squared distance from `about`, to lane i mod 8 in f64, without compensation. Min and max skip
//      NaN and include infinities. The sign of a zero that they return is undefined.
// Domain: any count; NaN and infinities by IEEE arithmetic. Bound: (count / 8) * 2^-53 relative. Callers use the sum only
//      where it is exact (fold.ts).
//
//   scratch: 0 sum[8]   128 squares[8]   192 min   200 max   208 to 240 extrema

export function plain<T>(from: usize, count: usize, about: f64, scratch: usize): void {
  memory.fill(scratch, 0, 64);
  memory.fill(scratch + 128, 0, 64);
  let least = Infinity;
  let most = -Infinity;
  let begin: usize = 0;
  if (ASC_FEATURE_SIMD) {
    begin = count & ~7;
    vectors<T>(from, begin, about, scratch);
    for (let p = scratch + 208; p < scratch + 224; p += sizeof<T>()) {
      least = min<f64>(least, <f64>load<T>(p));
      most = max<f64>(most, <f64>load<T>(p, 16));
    }
  }
  const end = from + count * sizeof<T>();
  for (let lane: usize = 0; lane < 8; lane += 2) {
    const at = scratch + lane * 8;
    let p = from + (begin + lane) * sizeof<T>();
    let s0 = load<f64>(at);
    let s1 = load<f64>(at, 8);
    let q0 = load<f64>(at, 128);
    let q1 = load<f64>(at, 136);
    for (; p + sizeof<T>() < end; p += 8 * sizeof<T>()) {
      const x = <f64>load<T>(p);
      const y = <f64>load<T>(p, sizeof<T>());
      least = select(x, least, x < least);
      most = select(x, most, x > most);
      least = select(y, least, y < least);
      most = select(y, most, y > most);
      s0 += x;
      s1 += y;
      q0 += (x - about) * (x - about);
      q1 += (y - about) * (y - about);
    }
    if (p < end) {
      const x = <f64>load<T>(p);
      least = select(x, least, x < least);
      most = select(x, most, x > most);
      s0 += x;
      q0 += (x - about) * (x - about);
    }
    store<f64>(at, s0);
    store<f64>(at, s1, 8);
    store<f64>(at, q0, 128);
    store<f64>(at, q1, 136);
  }
  store<f64>(scratch, least, 192);
  store<f64>(scratch, most, 200);
}

function square(x: v128, about: v128): v128 {
  const distance = f64x2.sub(x, about);
  return f64x2.mul(distance, distance);
}

/** `count` is a multiple of 8; vector j of four holds lanes 2j and 2j + 1. */
function vectors<T>(from: usize, count: usize, mean: f64, scratch: usize): void {
  const about = f64x2.splat(mean);
  let least = v128.splat<T>(<T>Infinity);
  let most = v128.splat<T>(<T>-Infinity);
  let s0 = f64x2.splat(0);
  let s1 = f64x2.splat(0);
  let s2 = f64x2.splat(0);
  let s3 = f64x2.splat(0);
  let q0 = f64x2.splat(0);
  let q1 = f64x2.splat(0);
  let q2 = f64x2.splat(0);
  let q3 = f64x2.splat(0);
  for (let p = from, end = from + count * sizeof<T>(); p < end; p += 8 * sizeof<T>()) {
    let x0 = v128.load(p);
    let x1 = v128.load(p, 16);
    let x2: v128;
    let x3: v128;
    // pmin(a, b) is b < a ? b : a, so a NaN in b leaves a.
    least = v128.pmin<T>(v128.pmin<T>(least, x0), x1);
    most = v128.pmax<T>(v128.pmax<T>(most, x0), x1);
    if (sizeof<T>() === 4) {
      // Loads the value again: a load is free while additions and conversions wait for their ports.
      x0 = f64x2.promote_low_f32x4(v128.load64_zero(p));
      x1 = f64x2.promote_low_f32x4(v128.load64_zero(p, 8));
      x2 = f64x2.promote_low_f32x4(v128.load64_zero(p, 16));
      x3 = f64x2.promote_low_f32x4(v128.load64_zero(p, 24));
    } else {
      x2 = v128.load(p, 32);
      x3 = v128.load(p, 48);
      least = v128.pmin<T>(v128.pmin<T>(least, x2), x3);
      most = v128.pmax<T>(v128.pmax<T>(most, x2), x3);
    }
    s0 = f64x2.add(s0, x0);
    s1 = f64x2.add(s1, x1);
    s2 = f64x2.add(s2, x2);
    s3 = f64x2.add(s3, x3);
    q0 = f64x2.add(q0, square(x0, about));
    q1 = f64x2.add(q1, square(x1, about));
    q2 = f64x2.add(q2, square(x2, about));
    q3 = f64x2.add(q3, square(x3, about));
  }
  v128.store(scratch, s0);
  v128.store(scratch, s1, 16);
  v128.store(scratch, s2, 32);
  v128.store(scratch, s3, 48);
  v128.store(scratch, q0, 128);
  v128.store(scratch, q1, 144);
  v128.store(scratch, q2, 160);
  v128.store(scratch, q3, 176);
  v128.store(scratch, least, 208);
  v128.store(scratch, most, 224);
}
