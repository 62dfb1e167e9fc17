// Law: ascending in place by key (keys.ts): -Infinity .. -0, +0 .. Infinity, NaN last, every NaN made the same quiet NaN.
//      At most 32 values: insertion. More: LSD radix, digits of 8 bits below 1536 values, else of 11; a digit that is
//      equal in all keys costs only its count.
// Domain: any count, all bit patterns. Bound: exact; linear time whatever the data.
// Source: Knuth TAOCP 3, 5.2.5; Terdiman 2000.
//
//   scratch: as large as the column      histogram: 2048 u32, 8192 bytes

import { decode, encode } from "./keys";

export function sort32(from: usize, count: usize, scratch: usize, histogram: usize): void {
  sort<f32, u32, i32>(from, count, scratch, histogram);
}

export function sort64(from: usize, count: usize, scratch: usize, histogram: usize): void {
  sort<f64, u64, i64>(from, count, scratch, histogram);
}

function sort<T, K, I>(from: usize, count: usize, scratch: usize, histogram: usize): void {
  encode<T, K, I>(from, count);
  const keys = count <= 32 ? insert<K>(from, count) : radix<K>(from, count, scratch, histogram);
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

/** Answers where the sorted keys ended up: `from` or `scratch`. */
function radix<K>(from: usize, count: usize, scratch: usize, histogram: usize): usize {
  const bits: u32 = count < 1536 ? 8 : 11;
  const mask = ((<K>1) << bits) - 1;
  let source = from;
  let target = scratch;
  for (let shift: u32 = 0; shift < <u32>sizeof<K>() * 8; shift += bits) {
    const end = source + count * sizeof<K>();
    memory.fill(histogram, 0, (<usize>4) << bits);
    for (let p = source; p < end; p += sizeof<K>()) {
      const slot = histogram + ((<usize>((load<K>(p) >> shift) & mask)) << 2);
      store<u32>(slot, load<u32>(slot) + 1);
    }
    if (load<u32>(histogram + ((<usize>((load<K>(source) >> shift) & mask)) << 2)) === count) continue;
    let next: usize = target;
    for (let slot = histogram, last = histogram + ((<usize>4) << bits); slot < last; slot += 4) {
      const size = <usize>load<u32>(slot) * sizeof<K>();
      store<u32>(slot, next);
      next += size;
    }
    for (let p = source; p < end; p += sizeof<K>()) {
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
