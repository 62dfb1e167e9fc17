// Law: a wavelet matrix over u32 keys. Level l has bit l of each key, in the order of the level above. Before the next
//      level, keys with bit 0 come first, then those with bit 1, each in their order. Only bits that differ between the
//      keys of a piece have a level.
// Domain: 1 to 2^20 keys in a piece. Bound: exact.
// Cost: 12 bytes per 64 bits, about 1.6 ns per key and level.
// Source: Claude, Navarro and Ordonez 2015, "The wavelet matrix". Blocks have their rank beside their bits.
//
//   piece: vary u32 | first key u32 | count u32 | bytes of a level u32 | zeros of each level, 32 u32 | levels, highest first
//   level: blocks of 64 bits u64, each with the number of ones in the blocks before it u32

import { encode } from "../keys";

/** Bytes before the levels. */
export const HEAD_BYTES: usize = 16 + 4 * 32;

/** Replaces f32 values by their keys. Returns the bits in which they differ from the first. */
export function waveletKeys32(from: usize, count: usize): u32 {
  encode<f32, u32, i32>(from, count);
  const first = load<u32>(from);
  let vary: u32 = 0;
  for (const end = from + (count << 2); from < end; from += 4) vary |= load<u32>(from) ^ first;
  return vary;
}

/** Address of a level. `vary` are the bits that have one. */
export function levelOf(piece: usize, vary: u32, level: u32): usize {
  return piece + HEAD_BYTES + <usize>popcnt(<u32>(<u64>vary >> (level + 1))) * load<u32>(piece, 12);
}

/** Writes a level, and moves the keys into the order of the next. `scratch` has room for as many keys. */
export function waveletLevel(piece: usize, level: u32, keys: usize, scratch: usize): void {
  const end = keys + ((<usize>load<u32>(piece, 8)) << 2);
  let block = levelOf(piece, load<u32>(piece), level);
  let key = keys;
  let zero = keys;
  let one = scratch;
  for (const after = block + load<u32>(piece, 12); block < after; block += 12) {
    const stop = min(end, key + 256);
    let bits: u64 = 0;
    store<u32>(block, <u32>((one - scratch) >> 2), 8);
    for (let place: u64 = 0; key < stop; key += 4, place++) {
      const x = load<u32>(key);
      const bit = (x >> level) & 1;
      bits |= (<u64>bit) << place;
      // Both stores are made, since a branch on a random bit costs more. zero <= key, so no unread key is overwritten.
      store<u32>(zero, x);
      store<u32>(one, x);
      one += bit << 2;
      zero += (bit ^ 1) << 2;
    }
    store<u64>(block, bits);
  }
  store<u32>(piece + 16 + (level << 2), <u32>((zero - keys) >> 2));
  memory.copy(zero, scratch, one - scratch);
}
