// Law: (x - mean)^2 in f64 of the finite values, value i added to lane i mod 8, lanes folded as
//      ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)). For blocks of at most 4096 values (fold.ts).
// Domain: any count, 0 included (answers 0); `mean` finite. A square that leaves the range of f64 gives Infinity.
// Bound: relative error at most (count / 8 + 5) * 2^-53 of the sum of squares about the `mean` given.
// Source: the second pass of the two-pass algorithm (Chan, Golub, LeVeque 1983).
//
//   out: 64 bytes of scratch for the lanes

export function squares<T>(from: usize, count: usize, mean: f64, out: usize): f64 {
  memory.fill(out, 0, 64);
  let begin: usize = 0;
  if (ASC_FEATURE_SIMD) {
    begin = count & ~7;
    vectors<T>(from, begin, mean, out);
  }
  for (let lane: usize = 0; lane < 8; lane++) {
    let sum = load<f64>(out + lane * 8);
    for (let i = begin + lane; i < count; i += 8) {
      const x = <f64>load<T>(from + i * sizeof<T>());
      if (abs(x) < Infinity) sum += (x - mean) * (x - mean);
    }
    store<f64>(out + lane * 8, sum);
  }
  return foldPlain(out);
}

/** Eight lanes as ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)). */
export function foldPlain(at: usize): f64 {
  return (
    load<f64>(at) +
    load<f64>(at, 8) +
    (load<f64>(at, 16) + load<f64>(at, 24)) +
    (load<f64>(at, 32) + load<f64>(at, 40) + (load<f64>(at, 48) + load<f64>(at, 56)))
  );
}

/** The square of the distance, +0 where x is not finite. */
function square(x: v128, mean: v128): v128 {
  const inside = f64x2.lt(f64x2.abs(x), f64x2.splat(Infinity));
  const distance = v128.and(f64x2.sub(x, mean), inside);
  return f64x2.mul(distance, distance);
}

function vectors<T>(from: usize, count: usize, mean: f64, out: usize): void {
  const about = f64x2.splat(mean);
  let s0 = f64x2.splat(0);
  let s1 = f64x2.splat(0);
  let s2 = f64x2.splat(0);
  let s3 = f64x2.splat(0);
  for (let p = from, end = from + count * sizeof<T>(); p < end; p += 8 * sizeof<T>()) {
    let x0 = v128.load(p);
    let x1 = v128.load(p + 16);
    let x2: v128;
    let x3: v128;
    if (sizeof<T>() === 4) {
      x2 = f64x2.promote_low_f32x4(x1);
      x3 = f64x2.promote_low_f32x4(v128.shuffle<u64>(x1, x1, 1, 0));
      x1 = f64x2.promote_low_f32x4(v128.shuffle<u64>(x0, x0, 1, 0));
      x0 = f64x2.promote_low_f32x4(x0);
    } else {
      x2 = v128.load(p + 32);
      x3 = v128.load(p + 48);
    }
    s0 = f64x2.add(s0, square(x0, about));
    s1 = f64x2.add(s1, square(x1, about));
    s2 = f64x2.add(s2, square(x2, about));
    s3 = f64x2.add(s3, square(x3, about));
  }
  v128.store(out, s0);
  v128.store(out, s1, 16);
  v128.store(out, s2, 32);
  v128.store(out, s3, 48);
}
