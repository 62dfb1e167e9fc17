// Law: numbers of w bits follow each other without gaps, least significant bit first.
// Domain: w from 0 to 32. Reads up to 16 bytes past the end.
import { BIT_PLACES, CODE_SPREADS, MASKS, SPREADS } from "./places";

export function bitsOf(x: u32): u32 {
  return 32 - clz<u32>(x);
}

/** Fills the tables. The host calls it once. */
export function prepare(): void {
  for (let width: u32 = 1; width <= 25; width++)
    for (let i: u32 = 0; i < 8; i++) {
      const bit = (i & 3) * width + (i < 4 ? 0 : (4 * width) & 7);
      const half = SPREADS + (width << 6) + (i < 4 ? 0 : 32);
      for (let byte: u32 = 0; byte < 4; byte++) store<u8>(half + ((i & 3) << 2) + byte, (bit >> 3) + byte);
      store<u32>(half + 16 + ((i & 3) << 2), (<u32>1) << (7 - (bit & 7)));
      store<u32>(MASKS + (width << 4) + ((i & 3) << 2), (1 << width) - 1);
    }
  for (let width: u32 = 1; width <= 10; width++)
    for (let i: u32 = 0; i < 8; i++) {
      const bit = i * width;
      const at = CODE_SPREADS + (width << 5) + (i << 1);
      store<u8>(at, bit >> 3);
      store<u8>(at, (bit >> 3) + 1, 1);
      store<u16>(at, <u16>((<u32>1) << (16 - width - (bit & 7))), 16);
    }
  for (let byte: u32 = 0; byte < 256; byte++) {
    let at = BIT_PLACES + (byte << 3);
    for (let bit: u32 = 0; bit < 8; bit++) if (byte & (1 << bit)) store<u8>(at++, bit);
  }
}

/** Unpacks `count` numbers, rounded up to a multiple of 8, to u32. */
export function unpack(from: usize, count: u32, width: u32, to: usize): void {
  if (ASC_FEATURE_SIMD && width <= 25) {
    const table = SPREADS + (width << 6);
    const half = width >> 1;
    const mask = v128.load(MASKS + (width << 4));
    for (const end = to + (count << 2); to < end; to += 32, from += width) {
      v128.store(to, fourOf(from, v128.load(table), v128.load(table, 16), mask));
      v128.store(to, fourOf(from + half, v128.load(table, 32), v128.load(table, 48), mask), 16);
    }
    return;
  }
  const mask = ((<u64>1) << width) - 1;
  let bit: usize = 0;
  for (const end = to + (count << 2); to < end; to += 4, bit += width)
    store<u32>(to, <u32>((load<u64>(from + (bit >> 3)) >> (bit & 7)) & mask));
}

/** Four numbers of at most 25 bits: gathered, aligned to bit 7 and cut as the tables say. Constant shifts are faster. */
export function fourOf(from: usize, bytes: v128, factors: v128, mask: v128): v128 {
  return v128.and(i32x4.shr_u(i32x4.mul(i8x16.swizzle(v128.load(from), bytes), factors), 7), mask);
}

/** Eight numbers of at most 10 bits as u16: gathered, and aligned to the top. `down`: 16 less the width. */
export function eightOf(from: usize, table: usize, down: u32): v128 {
  const aligned = i16x8.mul(i8x16.swizzle(v128.load(from), v128.load(table)), v128.load(table, 16));
  return i16x8.shr_u(aligned, down);
}

/** Packs u32 numbers below 2^w. Returns the address of the end, a whole byte; up to 8 bytes behind it become 0. */
export function pack(from: usize, count: u32, width: u32, to: usize): usize {
  // Less than a byte is held back.
  let held: u64 = 0;
  let bits: u32 = 0;
  const end = from + (count << 2);
  const pairsEnd = width > 28 ? from : from + ((count & ~3) << 2);
  for (; from < pairsEnd; from += 16) {
    const four = v128.load(from);
    const pairs = v128.or(v128.and(four, i64x2.splat(0xffffffff)), i64x2.shl(i64x2.shr_u(four, 32), width));
    held |= i64x2.extract_lane(pairs, 0) << bits;
    store<u64>(to, held);
    bits += 2 * width;
    to += bits >> 3;
    held >>= bits & 56;
    bits &= 7;
    held |= i64x2.extract_lane(pairs, 1) << bits;
    store<u64>(to, held);
    bits += 2 * width;
    to += bits >> 3;
    held >>= bits & 56;
    bits &= 7;
  }
  for (; from < end; from += 4) {
    held |= (<u64>load<u32>(from)) << bits;
    store<u64>(to, held);
    bits += width;
    to += bits >> 3;
    held >>= bits & 56;
    bits &= 7;
  }
  return to + ((bits + 7) >> 3);
}
