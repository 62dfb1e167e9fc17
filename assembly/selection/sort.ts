// Law: ascending in place by key (keys.ts): -Infinity .. -0, +0 .. Infinity, NaN last, every NaN made the same quiet NaN.
//      Up to 32 values: insertion. More: LSD radix, with digits of 8 bits below 1536 values and of 11 bits above. A digit
//      that is equal in all keys is skipped.
// Domain: any count, all bit patterns. Bound: exact; linear time whatever the data.
// Source: Knuth TAOCP 3, 5.2.5; Terdiman 2000.
//
//   scratch: as large as the column      histograms: 2048 u32 a digit, 3 digits (f32) or 6 (f64), 49 152 bytes

import { decode, encode } from "../keys";

export function sort32(from: usize, count: usize, scratch: usize, histograms: usize): void {
  sort<f32, u32, i32>(from, count, scratch, histograms);
}

export function sort64(from: usize, count: usize, scratch: usize, histograms: usize): void {
  sort<f64, u64, i64>(from, count, scratch, histograms);
}

function sort<T, K, I>(from: usize, count: usize, scratch: usize, histograms: usize): void {
  encode<T, K, I>(from, count);
  const keys = count <= 32 ? insert<K>(from, count) : radix<K>(from, count, scratch, histograms);
  decode<K, I>(keys, count, from);
}

function insert<K>(from: usize, count: usize): usize {
  for (let i: usize = 1; i < count; i++) {
    let p = from + i * sizeof<K>();
    const key = load<K>(p);
    for (; p > from && load<K>(p - sizeof<K>()) > key; p -= sizeof<K>()) store<K>(p, load<K>(p - sizeof<K>()));
    store<K>(p, key);
  }
  return from;
}

/** Returns the address of the sorted keys, `from` or `scratch`. One pass counts all digits. */
function radix<K>(from: usize, count: usize, scratch: usize, histograms: usize): usize {
  const bits: u32 = count < 1536 ? 8 : 11;
  const mask = ((<K>1) << bits) - 1;
  const size = (<usize>4) << bits;
  countDigits<K>(from, count, histograms, bits);
  let source = from;
  let target = scratch;
  let histogram = histograms;
  for (let shift: u32 = 0; shift < <u32>sizeof<K>() * 8; shift += bits, histogram += size) {
    if (load<u32>(histogram + ((<usize>((load<K>(source) >> shift) & mask)) << 2)) === count) continue;
    let next: usize = target;
    for (let slot = histogram, last = histogram + size; slot < last; slot += 4) {
      const bytes = <usize>load<u32>(slot) * sizeof<K>();
      store<u32>(slot, next);
      next += bytes;
    }
    for (let p = source, end = source + count * sizeof<K>(); p < end; p += sizeof<K>()) {
      const key = load<K>(p);
      const slot = histogram + ((<usize>((key >> shift) & mask)) << 2);
      const place = load<u32>(slot);
      store<K>(place, key);
      store<u32>(slot, place + <u32>sizeof<K>());
    }
    const swapped = source;
    source = target;
    target = swapped;
  }
  return source;
}

/** Counts the digits of every key, least significant first, each in its own histogram. */
function countDigits<K>(from: usize, count: usize, histograms: usize, bits: u32): void {
  const size = (<usize>4) << bits;
  memory.fill(histograms, 0, size * ((<u32>sizeof<K>() * 8 + bits - 1) / bits));
  const end = from + count * sizeof<K>();
  if (bits === 11) {
    for (let p = from; p < end; p += sizeof<K>()) {
      const key = load<K>(p);
      tally<K>(histograms, key & 2047);
      tally<K>(histograms + 8192, (key >> 11) & 2047);
      if (sizeof<K>() === 4) tally<K>(histograms + 16384, key >> 22);
      else {
        tally<K>(histograms + 16384, (key >> 22) & 2047);
        tally<K>(histograms + 24576, (key >> 33) & 2047);
        tally<K>(histograms + 32768, (key >> 44) & 2047);
        tally<K>(histograms + 40960, key >> 55);
      }
    }
    return;
  }
  for (let p = from; p < end; p += sizeof<K>()) {
    const key = load<K>(p);
    tally<K>(histograms, key & 255);
    tally<K>(histograms + 1024, (key >> 8) & 255);
    tally<K>(histograms + 2048, (key >> 16) & 255);
    if (sizeof<K>() === 4) tally<K>(histograms + 3072, key >> 24);
    else {
      tally<K>(histograms + 3072, (key >> 24) & 255);
      tally<K>(histograms + 4096, (key >> 32) & 255);
      tally<K>(histograms + 5120, (key >> 40) & 255);
      tally<K>(histograms + 6144, (key >> 48) & 255);
      tally<K>(histograms + 7168, key >> 56);
    }
  }
}

function tally<K>(histogram: usize, digit: K): void {
  const slot = histogram + ((<usize>digit) << 2);
  store<u32>(slot, load<u32>(slot) + 1);
}
