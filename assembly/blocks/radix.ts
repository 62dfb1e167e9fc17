// Law: sorts keys above bit 10 by their indexes below it; equal keys keep their order. At most nine bits a pass.
import { COUNTS, KEYS, OFFSETS, OTHER_KEYS, RANKS, SORTED } from "./places";

/**
 * Sorts `count` u64 at KEYS by `bits` bits from bit 10 on. Returns the address of the result. With `last`, OFFSETS, SORTED and RANKS
 * are the result, and the last pass writes them.
 */
export function sortKeys(count: u32, bits: u32, last: bool): usize {
  let source: usize = KEYS;
  let target: usize = OTHER_KEYS;
  const passes = max<u32>((bits + 8) / 9, 1);
  // Passes of equal width have the fewest counts.
  const width = (bits + passes - 1) / passes;
  const mask = ((<usize>4) << width) - 4;
  // Two less, because a count has four bytes.
  let shift: u64 = 8;
  for (let left = passes; left > 0; left--) {
    const isLast = last && left === 1;
    countDigits(source, count, shift, mask, isLast ? 2 : 8);
    if (isLast) writeRanks(source, count, shift, mask);
    else moveKeys(source, count, shift, mask, target);
    const swapped = source;
    source = target;
    target = swapped;
    shift += width;
  }
  return source;
}

/** Writes to COUNTS where the first key with each digit goes, as `size` times its rank. */
function countDigits(source: usize, count: u32, shift: u64, mask: usize, size: u32): void {
  for (let slot: usize = 0; slot <= mask; slot += 16) v128.store(slot, i32x4.splat(0), COUNTS);
  const end = source + (count << 3);
  // Four keys a round, because V8 checks the stack in each.
  for (; source + 32 <= end; source += 32) {
    countDigit(load<u64>(source), shift, mask, size);
    countDigit(load<u64>(source, 8), shift, mask, size);
    countDigit(load<u64>(source, 16), shift, mask, size);
    countDigit(load<u64>(source, 24), shift, mask, size);
  }
  for (; source < end; source += 8) countDigit(load<u64>(source), shift, mask, size);
  let next: u32 = 0;
  for (let slot: usize = 0; slot <= mask; slot += 4) {
    const some = load<u32>(slot, COUNTS);
    store<u32>(slot, next, COUNTS);
    next += some;
  }
}

function countDigit(key: u64, shift: u64, mask: usize, size: u32): void {
  const slot = <usize>(key >> shift) & mask;
  store<u32>(slot, load<u32>(slot, COUNTS) + size, COUNTS);
}

function moveKeys(source: usize, count: u32, shift: u64, mask: usize, target: usize): void {
  const end = source + (count << 3);
  for (; source + 32 <= end; source += 32) {
    moveKey(load<u64>(source), shift, mask, target);
    moveKey(load<u64>(source, 8), shift, mask, target);
    moveKey(load<u64>(source, 16), shift, mask, target);
    moveKey(load<u64>(source, 24), shift, mask, target);
  }
  for (; source < end; source += 8) moveKey(load<u64>(source), shift, mask, target);
}

function moveKey(key: u64, shift: u64, mask: usize, target: usize): void {
  const slot = <usize>(key >> shift) & mask;
  const place = load<u32>(slot, COUNTS);
  store<u64>(target + place, key);
  store<u32>(slot, place + 8, COUNTS);
}

function writeRanks(source: usize, count: u32, shift: u64, mask: usize): void {
  const end = source + (count << 3);
  for (; source + 32 <= end; source += 32) {
    writeRank(load<u64>(source), shift, mask);
    writeRank(load<u64>(source, 8), shift, mask);
    writeRank(load<u64>(source, 16), shift, mask);
    writeRank(load<u64>(source, 24), shift, mask);
  }
  for (; source < end; source += 8) writeRank(load<u64>(source), shift, mask);
}

function writeRank(key: u64, shift: u64, mask: usize): void {
  const slot = <usize>(key >> shift) & mask;
  const rank = load<u32>(slot, COUNTS);
  const index = (<u32>key & 1023) << 1;
  store<u32>(slot, rank + 2, COUNTS);
  store<u32>(rank << 1, <u32>(key >> 10), OFFSETS);
  store<u16>(rank, index, SORTED);
  store<u16>(index, rank, RANKS);
}
