// Law: out[i] = (x[i] - mean)^2, the subtraction and the product each rounded to the column's own type, as NumPy's
//      var computes them before its pairwise sum.
// Domain: any count, NaN and infinities by IEEE arithmetic. `out` may be `from`. Bound: two roundings a value.
// Source: numpy/_core/_methods.py (_var), NumPy 2.4.

export function deviations32(from: usize, count: usize, mean: f32, out: usize): void {
  deviations<f32>(from, count, mean, out);
}

export function deviations64(from: usize, count: usize, mean: f64, out: usize): void {
  deviations<f64>(from, count, mean, out);
}

function deviations<T>(from: usize, count: usize, mean: T, out: usize): void {
  let p = from;
  let to = out;
  const end = from + count * sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    const about = v128.splat<T>(mean);
    for (const whole = end - ((end - p) & 15); p < whole; p += 16, to += 16) {
      const distance = v128.sub<T>(v128.load(p), about);
      v128.store(to, v128.mul<T>(distance, distance));
    }
  }
  for (; p < end; p += sizeof<T>(), to += sizeof<T>()) {
    const distance = load<T>(p) - mean;
    store<T>(to, distance * distance);
  }
}
