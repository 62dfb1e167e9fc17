// Law: writes the rank of every value in its piece. Ranks follow the order of values (-0 before +0), and equal values have
//      different ranks. NaN has the rank NONE. Leaves pairs (part, index) in order of rank. The part of an f32 is its key
//      (keys.ts). The part of an f64 is the leading 32 significant bits of its key's distance from the smallest key.
//      A radix sort orders the leading bits of the range, enough of them to separate most values. An insertion sort orders
//      the rest. Where the insertion needs more than 4 moves a value, a radix sort on all bits replaces it.
//      Above 65536 values a first digit splits the values, so that the rest of the work stays in the caches.
// Domain: any count below 2^29, all bit patterns. Bound: exact; linear time whatever the data.
// Source: Knuth TAOCP 3, 5.2.5 (and exercise 5.2.1-12 for insertion as the last step); Terdiman 2000.
//
//   pairs, scratch: see rolling-radix.ts      histograms: 3 * 2048 u32      ranks: u32 a value

import { keyOf } from "../keys";
import { clear, DIGIT_BITS, HISTOGRAM, put, scatter, sortByTwo, startPlaces, tally } from "./rolling-radix";

export const NONE: u32 = 0xffffffff;
const LARGE: usize = 65536;
/** Buckets of about 2^12 values, half the capacity of a first-level cache. */
const BUCKET_BITS: u32 = 12;
/** Bits sorted in addition to log2(count), because data cluster in a part of their range. */
const SPARE_BITS: u32 = 6;
const MOVES_EACH: usize = 4;

export function rollingRank32(
  from: usize,
  count: usize,
  pairs: usize,
  scratch: usize,
  histograms: usize,
  ranks: usize,
): void {
  rankAll<f32, u32>(from, count, pairs, scratch, histograms, ranks);
}

export function rollingRank64(
  from: usize,
  count: usize,
  pairs: usize,
  scratch: usize,
  histograms: usize,
  ranks: usize,
): void {
  rankAll<f64, u64>(from, count, pairs, scratch, histograms, ranks);
}

function rankAll<T, K>(from: usize, count: usize, pairs: usize, scratch: usize, histograms: usize, ranks: usize): void {
  let least = <K>-1;
  let most: K = 0;
  let known: usize = 0;
  for (let p = from, end = from + count * sizeof<T>(); p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    if (!(x <= <T>Infinity)) continue;
    const key = keyOf<T, K>(x);
    least = select(key, least, key < least);
    most = select(key, most, key > most);
    known++;
  }
  if (known < count) memory.fill(ranks, 0xff, count * 4);
  if (known === 0) return;
  const width: u32 = 64 - <u32>clz<u64>(<u64>most - <u64>least);
  const shift: u32 = max<u32>(width, 32) - 32;
  const base: K = sizeof<K>() === 4 ? 0 : least;
  const origin: u32 = sizeof<K>() === 4 ? <u32>least : 0;
  const bits = min<u32>(width, 32);
  if (known <= LARGE) {
    const kept = keptBits(known, bits);
    const low = kept >> 1;
    const high = kept - low;
    const by = bits - kept;
    clear(histograms, low, high);
    spreadTally<T, K>(from, count, base, shift, origin, by, low, high, histograms);
    spread<T, K>(from, count, base, shift, origin, by, low, histograms, scratch);
    scatter(scratch, known << 3, histograms + HISTOGRAM, pairs, origin, by + low, high);
    settle<T, K>(from, base, shift, pairs, known << 3, scratch, histograms, ranks, 0);
  } else {
    const top = min<u32>(min<u32>(bits, DIGIT_BITS), 32 - BUCKET_BITS - <u32>clz<u32>(<u32>known));
    const rest = bits - top;
    const buckets = histograms + 2 * HISTOGRAM;
    memory.fill(buckets, 0, HISTOGRAM);
    tallyTop<T, K>(from, count, base, shift, origin, rest, top, buckets);
    spread<T, K>(from, count, base, shift, origin, rest, top, buckets, pairs);
    let start = pairs;
    for (let slot = buckets, last = buckets + ((<usize>4) << top); slot < last; slot += 4) {
      const bytes = load<u32>(slot) - start;
      if (bytes === 0) continue;
      const kept = keptBits(bytes >> 3, rest);
      const low = kept >> 1;
      sortByTwo(start, bytes, scratch, histograms, origin, rest - kept, low, kept - low);
      settle<T, K>(from, base, shift, start, bytes, scratch, histograms, ranks, <u32>((start - pairs) >> 3));
      start += bytes;
    }
  }
}

function keptBits(count: usize, bits: u32): u32 {
  return min<u32>(min<u32>(bits, 2 * DIGIT_BITS), 32 + SPARE_BITS - <u32>clz<u32>(<u32>count));
}

function partOf<T, K>(x: T, base: K, shift: u32): u32 {
  const distance = keyOf<T, K>(x) - base;
  return sizeof<K>() === 4 ? <u32>distance : <u32>(distance >> shift);
}

function spreadTally<T, K>(
  from: usize,
  count: usize,
  base: K,
  shift: u32,
  origin: u32,
  by: u32,
  low: u32,
  high: u32,
  histograms: usize,
): void {
  const lowMask: u32 = (1 << low) - 1;
  const highMask: u32 = (1 << high) - 1;
  for (let p = from, end = from + count * sizeof<T>(); p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    if (!(x <= <T>Infinity)) continue;
    const digits = (partOf<T, K>(x, base, shift) - origin) >> by;
    tally(histograms, digits & lowMask);
    tally(histograms + HISTOGRAM, (digits >> low) & highMask);
  }
}

function tallyTop<T, K>(
  from: usize,
  count: usize,
  base: K,
  shift: u32,
  origin: u32,
  by: u32,
  bits: u32,
  histogram: usize,
): void {
  const mask: u32 = (1 << bits) - 1;
  for (let p = from, end = from + count * sizeof<T>(); p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    if (x <= <T>Infinity) tally(histogram, ((partOf<T, K>(x, base, shift) - origin) >> by) & mask);
  }
}

/** Writes the values as pairs, in the order of one digit whose histogram is ready. */
function spread<T, K>(
  from: usize,
  count: usize,
  base: K,
  shift: u32,
  origin: u32,
  by: u32,
  bits: u32,
  histogram: usize,
  target: usize,
): void {
  startPlaces(histogram, bits, target);
  const mask: u32 = (1 << bits) - 1;
  for (let i: usize = 0; i < count; i++) {
    const x = load<T>(from + i * sizeof<T>());
    if (!(x <= <T>Infinity)) continue;
    const part = partOf<T, K>(x, base, shift);
    put(histogram, ((part - origin) >> by) & mask, ((<u64>part) << 32) | <u64>i);
  }
}

/** Sorts values with equal digits by insertion, and writes the ranks from `rank` on. */
function settle<T, K>(
  from: usize,
  base: K,
  shift: u32,
  pairs: usize,
  bytes: usize,
  scratch: usize,
  histograms: usize,
  ranks: usize,
  rank: u32,
): void {
  if (!insert<T, K>(from, pairs, bytes)) sortWhole<T, K>(from, base, shift, pairs, bytes, scratch, histograms);
  for (let p = pairs, end = pairs + bytes; p < end; p += 8, rank++)
    store<u32>(ranks + ((<usize>load<u32>(p)) << 2), rank);
}

/** Returns false when it gives up. The pairs are then complete, but not in order. */
function insert<T, K>(from: usize, pairs: usize, bytes: usize): bool {
  let moves = (bytes >> 3) * MOVES_EACH;
  let previous = load<u64>(pairs);
  for (let p = pairs + 8, end = pairs + bytes; p < end; p += 8) {
    const pair = load<u64>(p);
    if (!isAbove<T, K>(from, previous, pair)) {
      previous = pair;
      continue;
    }
    let q = p;
    do {
      store<u64>(q, load<u64>(q - 8));
      q -= 8;
      moves--;
    } while (moves !== 0 && q > pairs && isAbove<T, K>(from, load<u64>(q - 8), pair));
    store<u64>(q, pair);
    if (moves === 0) return false;
  }
  return true;
}

function isAbove<T, K>(from: usize, pair: u64, other: u64): bool {
  if (sizeof<T>() === 4) return pair > other;
  if (pair >> 32 !== other >> 32) return pair > other;
  return keyAt<T, K>(from, pair) > keyAt<T, K>(from, other);
}

function keyAt<T, K>(from: usize, pair: u64): K {
  return keyOf<T, K>(load<T>(from + <usize>(<u32>pair) * sizeof<T>()));
}

/** Sorts by all bits of the keys, in digits of 8 bits. */
function sortWhole<T, K>(
  from: usize,
  base: K,
  shift: u32,
  pairs: usize,
  bytes: usize,
  scratch: usize,
  histograms: usize,
): void {
  const end = pairs + bytes;
  if (sizeof<K>() === 8)
    for (let p = pairs; p < end; p += 8) store<u32>(p, <u32>(keyAt<T, K>(from, load<u64>(p)) - base), 4);
  sortByTwo(pairs, bytes, scratch, histograms, 0, 0, 8, 8);
  sortByTwo(pairs, bytes, scratch, histograms, 0, 16, 8, 8);
  if (sizeof<K>() === 4) return;
  for (let p = pairs; p < end; p += 8) store<u32>(p, <u32>((keyAt<T, K>(from, load<u64>(p)) - base) >> shift), 4);
  sortByTwo(pairs, bytes, scratch, histograms, 0, 0, 8, 8);
  sortByTwo(pairs, bytes, scratch, histograms, 0, 16, 8, 8);
}
