// Law: keeps, in order, the pairs whose time t has first <= t <= last; both columns are compacted in place.
//      Values are moved as bits, so NaN payloads survive.
// Domain: any count; times any i64. Bound: exact. Branch-free, so a random mask costs what a sorted one costs.
//
//   bounds:  0 first   8 last      i64 each

/** Answers how many pairs were kept. */
export function trim32(times: usize, values: usize, count: usize, bounds: usize): u32 {
  return trim<u32>(times, values, count, bounds);
}

/** Answers how many pairs were kept. */
export function trim64(times: usize, values: usize, count: usize, bounds: usize): u32 {
  return trim<u64>(times, values, count, bounds);
}

function trim<K>(times: usize, values: usize, count: usize, bounds: usize): u32 {
  const first = load<i64>(bounds);
  const last = load<i64>(bounds + 8);
  let kept: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    const t = load<i64>(times + (i << 3));
    const bits = load<K>(values + i * sizeof<K>());
    // The place written is never past the place read.
    store<i64>(times + (kept << 3), t);
    store<K>(values + kept * sizeof<K>(), bits);
    kept += <usize>(t >= first) & <usize>(t <= last);
  }
  return <u32>kept;
}
