// Law: one value from each of `size` strides of the column. A linear congruential generator chooses the place, so that no
//      period of the data can match it. Sample i lies at min(count - 1, floor((i + r * 2^-32) * count / size)).
// Domain: count and size from 1. Bound: exact. The twin draws the same places (src/engine/kernel/passes/bracket.ts).
// Source: Knuth TAOCP 2, 3.3.4 table 1, line 16 (multiplier 1664525).

export function sample32(from: usize, count: u32, seed: u32, size: u32, out: usize): void {
  sample<f32>(from, count, seed, size, out);
}

export function sample64(from: usize, count: u32, seed: u32, size: u32, out: usize): void {
  sample<f64>(from, count, seed, size, out);
}

function sample<T>(from: usize, count: u32, seed: u32, size: u32, out: usize): void {
  const stride = <f64>count / <f64>size;
  let random = seed;
  let to = out;
  for (let i: u32 = 0; i < size; i++, to += sizeof<T>()) {
    random = 1664525 * random + 1013904223;
    const place = min<u32>(count - 1, <u32>((<f64>i + <f64>random * 2.3283064365386963e-10) * stride));
    store<T>(to, load<T>(from + <usize>place * sizeof<T>()));
  }
}
