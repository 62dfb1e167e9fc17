// Law: the key of a float is its bits. All of them are inverted if it is negative, else only the sign bit. The unsigned
//      order of keys is the order of values, -0 before +0. Every NaN becomes one positive quiet NaN, with the largest key.
// Domain: all bit patterns. Bound: exact; decode(encode(x)) is x, NaN payloads excepted.
// Source: Terdiman 2000, "Radix Sort Revisited".

export function encode<T, K, I>(from: usize, count: usize): void {
  const top = (<K>1) << (sizeof<K>() * 8 - 1);
  const nan = sizeof<K>() === 4 ? <K>0x7fc00000 : <K>0x7ff8000000000000;
  let p = from;
  const end = from + count * sizeof<K>();
  if (ASC_FEATURE_SIMD) {
    for (const whole = end - ((end - p) & 15); p < whole; p += 16) {
      const x = v128.load(p);
      const bits = v128.bitselect(x, v128.splat<K>(nan), v128.eq<T>(x, x));
      const sign = v128.shr<I>(bits, sizeof<K>() * 8 - 1);
      v128.store(p, v128.xor(bits, v128.or(sign, v128.splat<K>(top))));
    }
  }
  for (; p < end; p += sizeof<K>()) {
    const x = load<T>(p);
    const bits = x <= <T>Infinity ? load<K>(p) : nan;
    store<K>(p, bits & top ? ~bits : bits | top);
  }
}

/** Converts keys at `from` back to floats at `to`, which is `from` itself or does not overlap it. */
export function decode<K, I>(from: usize, count: usize, to: usize): void {
  const top = (<K>1) << (sizeof<K>() * 8 - 1);
  let p = from;
  let out = to;
  const end = from + count * sizeof<K>();
  if (ASC_FEATURE_SIMD) {
    for (const whole = end - ((end - p) & 15); p < whole; p += 16, out += 16) {
      const key = v128.load(p);
      const negative = v128.not(v128.shr<I>(key, sizeof<K>() * 8 - 1));
      v128.store(out, v128.xor(key, v128.or(negative, v128.splat<K>(top))));
    }
  }
  for (; p < end; p += sizeof<K>(), out += sizeof<K>()) {
    const key = load<K>(p);
    store<K>(out, key & top ? key ^ top : ~key);
  }
}

/** The key of one float that is not NaN. */
export function keyOf<T, K>(x: T): K {
  if (sizeof<K>() === 4) {
    const bits = reinterpret<i32>(<f32>x);
    return <K>(bits ^ ((bits >> 31) | i32.MIN_VALUE));
  }
  const bits = reinterpret<i64>(<f64>x);
  return <K>(bits ^ ((bits >> 63) | i64.MIN_VALUE));
}

export function floatOf<T, K>(key: K): T {
  if (sizeof<K>() === 4) return <T>reinterpret<f32>(<i32>key ^ (~(<i32>key >> 31) | i32.MIN_VALUE));
  return <T>reinterpret<f64>(<i64>key ^ (~(<i64>key >> 63) | i64.MIN_VALUE));
}
