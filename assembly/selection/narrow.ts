// Law: counts the values of each of at most 2048 equal ranges of keys (keys.ts) between low and high. Writes the limits,
//      both included, of the range that holds ranks k and k + 1 (rank count - 1 has no next), and the number of values
//      before it. -0 counts as +0. Where a range is one key wide, or the two ranks lie in different ranges, it writes the
//      two values themselves.
// Domain: count >= 1, k < count, no NaN, low <= every value <= high. Bound: exact. One pass or two.
// Source: radix select, beginning with the first digit in which the values differ.
//
//   histograms: 4 of 2048 u32 (32 768 bytes), so that increments of equal values do not wait for each other
//   out: 0 number of values before, 4: 1 for the values themselves, else 0, u32 each      8 first or value k, 16 last or value k + 1, T each

import { floatOf, keyOf } from "../keys";

const RANGES: usize = 2048;
const SIZE: usize = 4 * RANGES;

export function narrow32(from: usize, count: usize, k: u32, low: f32, high: f32, histograms: usize, out: usize): void {
  narrow<f32, u32>(from, count, k, low, high, histograms, out);
}

export function narrow64(from: usize, count: usize, k: u32, low: f64, high: f64, histograms: usize, out: usize): void {
  narrow<f64, u64>(from, count, k, low, high, histograms, out);
}

function narrow<T, K>(from: usize, count: usize, k: u32, low: T, high: T, histograms: usize, out: usize): void {
  const base = keyOf<T, K>(low + <T>0);
  const top = keyOf<T, K>(high + <T>0);
  const span = top - base;
  const width = <u32>sizeof<K>() * 8 - <u32>clz<K>(span);
  const shift = <K>(span === 0 || width <= 11 ? 0 : width - 11);
  memory.fill(histograms, 0, 4 * SIZE);
  let p = from;
  const end = from + count * sizeof<T>();
  for (const whole = end - ((end - p) & (4 * sizeof<T>() - 1)); p < whole; p += 4 * sizeof<T>()) {
    tally<T, K>(p, base, shift, histograms);
    tally<T, K>(p + sizeof<T>(), base, shift, histograms + SIZE);
    tally<T, K>(p + 2 * sizeof<T>(), base, shift, histograms + 2 * SIZE);
    tally<T, K>(p + 3 * sizeof<T>(), base, shift, histograms + 3 * SIZE);
  }
  for (; p < end; p += sizeof<T>()) tally<T, K>(p, base, shift, histograms);

  let range: usize = 0;
  let next = valuesIn(histograms, range);
  let before: u32 = 0;
  while (before + next <= k) {
    before += next;
    next = valuesIn(histograms, ++range);
  }
  const begin = (<K>range) << shift;
  let lastKey = base + min<K>(begin + (((<K>1) << shift) - 1), span);
  // No value has the key of -0, and a limit of -0 would let +0 in.
  if (lastKey === ((<K>1) << (sizeof<K>() * 8 - 1)) - 1) lastKey--;
  let first = floatOf<T, K>(base + begin);
  let last = floatOf<T, K>(lastKey);
  const apart = k + 1 < <u32>count && k + 1 === before + next;
  if (apart) {
    const limit = last;
    first = low;
    last = high;
    for (p = from; p < end; p += sizeof<T>()) {
      const x = load<T>(p);
      if (x <= limit) first = max<T>(first, x);
      else last = min<T>(last, x);
    }
  }
  store<u32>(out, before);
  store<u32>(out, u32(apart || shift === 0), 4);
  store<T>(out, first, 8);
  store<T>(out, last, 16);
}

function tally<T, K>(p: usize, base: K, shift: K, histogram: usize): void {
  const key = keyOf<T, K>(load<T>(p) + <T>0);
  const slot = histogram + ((<usize>((key - base) >> shift) & (RANGES - 1)) << 2);
  store<u32>(slot, load<u32>(slot) + 1);
}

function valuesIn(histograms: usize, range: usize): u32 {
  const slot = histograms + (range << 2);
  return load<u32>(slot) + load<u32>(slot, SIZE) + load<u32>(slot, 2 * SIZE) + load<u32>(slot, 3 * SIZE);
}
