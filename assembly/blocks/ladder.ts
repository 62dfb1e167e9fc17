// Law: a ladder is a sorted list of u32 numbers from 0 to `top`, in groups of 32. First every 32nd number (the samples, without the
//      first), then each group between its sample and the next. Elias-Fano: m numbers in [0, span] are m times l low bits, then
//      bits of which number (r >> l) + i is set, padded to a byte; nothing if m or span is 0. So samples give the size of each group.
// Domain: 1 to 1024 numbers. Source: Elias 1974; Fano 1971.
import { bitsOf, fourOf, pack, unpack } from "./bits";
import { BIT_PLACES, LOWS, MASKS, ONES, SAMPLES, SPREADS, STARTS, UNPACKED } from "./places";

/** Eight bytes of 8. */
const EIGHTS: u64 = ((<u64>0x08080808) << 32) | 0x08080808;

function lowBits(m: u32, span: u32): u32 {
  const low = max<i32>(0, bitsOf(span) - bitsOf(m + 2));
  return low + <u32>(span >> low > m + 2);
}

export function samplesOf(count: u32): u32 {
  return (count + 31) >> 5;
}

function inGroup(count: u32, group: u32): u32 {
  return min<u32>(32, count - (group << 5));
}

/** Writes m numbers that lie `first` higher. Returns the address of the end. */
function encodeGroup(from: usize, m: u32, first: u32, span: u32, to: usize): usize {
  if (m === 0 || span === 0) return to;
  const low = lowBits(m, span);
  const start = i32x4.splat(first);
  const mask = i32x4.splat((1 << low) - 1);
  let place = i32x4(0, 1, 2, 3);
  for (let at: usize = 0; at < m << 2; at += 16) {
    const rest = i32x4.sub(v128.load(from + at), start);
    v128.store(at, v128.and(rest, mask), UNPACKED);
    v128.store(at, i32x4.add(i32x4.shr_u(rest, low), place), UNPACKED + 128);
    place = i32x4.add(place, i32x4.splat(4));
  }
  let ones: u64 = 0;
  for (let at: usize = 0; at < m << 2; at += 4) ones |= (<u64>1) << load<u32>(at, UNPACKED + 128);
  pack(UNPACKED, m, low, to);
  const bit = m * low;
  to += bit >> 3;
  const down: u64 = bit & 7;
  // Up to seven bits of the low parts are there.
  const front = (<u64>load<u8>(to) & ((1 << down) - 1)) | ((ones & 0xffffffff) << down);
  store<u64>(to, front);
  store<u64>(to, (front >> 32) | ((ones >> 32) << down), 4);
  return to + ((<usize>down + m + (span >> low) + 7) >> 3);
}

/** Writes the places of the set bits of m numbers to `to`, one byte each. Returns the end of the group, or 0 if it is damaged. */
function placeOnes(from: usize, m: u32, low: u32, span: u32, to: usize): usize {
  const bit: usize = m * low;
  const ones = m + (span >> low);
  const at = from + (bit >> 3);
  const down: u64 = bit & 7;
  // At most 64 bits. Those behind the last are not read as ones.
  const front = <u64>(<u32>(load<u64>(at) >> down));
  const bits = (front | ((load<u64>(at, 4) >> down) << 32)) & (u64.MAX_VALUE >> (64 - ones));
  return spread(to, bits) - to === m ? from + ((bit + ones + 7) >> 3) : 0;
}

/** Writes the places of set bits. Returns the end. */
function spread(to: usize, bits: u64): usize {
  to = spreadByte(to, <u32>bits & 255, 0);
  to = spreadByte(to, <u32>(bits >> 8) & 255, EIGHTS);
  to = spreadByte(to, <u32>(bits >> 16) & 255, 2 * EIGHTS);
  to = spreadByte(to, <u32>(bits >> 24) & 255, 3 * EIGHTS);
  to = spreadByte(to, <u32>(bits >> 32) & 255, 4 * EIGHTS);
  to = spreadByte(to, <u32>(bits >> 40) & 255, 5 * EIGHTS);
  to = spreadByte(to, <u32>(bits >> 48) & 255, 6 * EIGHTS);
  return spreadByte(to, <u32>(bits >> 56), 7 * EIGHTS);
}

function spreadByte(to: usize, byte: u32, base: u64): usize {
  store<u64>(to, load<u64>(byte << 3, BIT_PLACES) + base);
  return to + popcnt<u32>(byte);
}

function sum(high: v128, low: v128, scale: v128, start: v128): v128 {
  return i32x4.add(i32x4.add(i32x4.mul(high, scale), low), start);
}

function repeat(value: u32, to: usize): void {
  const all = i32x4.splat(value);
  for (let end = to + 128; to < end; to += 16) v128.store(to, all);
}

export function encodeSamples(from: usize, count: u32, to: usize): usize {
  const samples = samplesOf(count);
  for (let i: u32 = 0; i < samples; i++) store<u32>(SAMPLES + (i << 2), load<u32>(from + (i << 7)));
  const top = load<u32>(from + ((count - 1) << 2));
  store<u32>(SAMPLES + (samples << 2), top);
  return encodeGroup(SAMPLES + 4, samples - 1, 0, top, to);
}

/** The samples must be those of `encodeSamples`. With a shift each group is followed by the low parts of its numbers. */
export function encodeGroups(from: usize, count: u32, lows: usize, shift: u32, to: usize): usize {
  const samples = samplesOf(count);
  for (let i: u32 = 0; i < samples; i++) {
    const first = load<u32>(SAMPLES + (i << 2));
    const some = inGroup(count, i);
    to = encodeGroup(from + (i << 7) + 4, some - 1, first, load<u32>(SAMPLES + (i << 2), 4) - first, to);
    if (shift > 0) to = pack(lows + (i << 7), some, shift, to);
  }
  return to;
}

/** Decodes samples to SAMPLES, as one group. Returns the end, or 0 if they are damaged. */
export function decodeSamples(from: usize, count: u32, top: u32): usize {
  const samples = samplesOf(count);
  store<u32>(SAMPLES, 0);
  store<u32>(SAMPLES, top, 4);
  // All decoding has one place, so that the compiler inlines it there.
  const end = decodeGroups(from, samples, 0, 1, LOWS, 0, SAMPLES);
  store<u32>(SAMPLES + (samples << 2), top);
  return end;
}

/** Decodes groups `first` to `last` - 1, which begin at `from`. Returns the end, or 0 if they are damaged. */
export function decodeGroups(
  from: usize,
  count: u32,
  first: u32,
  last: u32,
  lows: usize,
  shift: u32,
  to: usize,
): usize {
  // All places before all numbers, because a wide load soon after narrow stores is slow.
  for (let i = first; i < last; i++) {
    const start = load<u32>(SAMPLES + (i << 2));
    const span = load<u32>(SAMPLES + (i << 2), 4) - start;
    if (span > ~start) return 0;
    const m = inGroup(count, i) - 1;
    store<u32>(STARTS + ((i - first) << 2), <u32>from);
    if (m > 0 && span > 0) {
      from = placeOnes(from, m, lowBits(m, span), span, ONES + ((i - first) << 5));
      if (from === 0) return 0;
    }
    if (shift > 0) {
      unpack(from, m + 1, shift, lows);
      from += ((m + 1) * shift + 7) >> 3;
      lows += 128;
    }
  }
  joinGroups(count, first, last, to);
  return from;
}

/** Writes the numbers of groups from their samples, the places of their high parts, and their low parts. */
function joinGroups(count: u32, first: u32, last: u32, to: usize): void {
  const own = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const ownBack = i8x16.add(own, i8x16.splat(16));
  for (let i = first; i < last; i++, to += 128) {
    const sample = load<u32>(SAMPLES + (i << 2));
    const span = load<u32>(SAMPLES + (i << 2), 4) - sample;
    const m = inGroup(count, i) - 1;
    if (m === 0 || span === 0) {
      repeat(sample, to);
      continue;
    }
    const low = lowBits(m, span);
    const places = ONES + ((i - first) << 5);
    let from: usize = load<u32>(STARTS + ((i - first) << 2));
    store<u32>(to, sample);
    if (low > 25) {
      joinWide(from, low, places, sample, to);
      continue;
    }
    const table = SPREADS + (low << 6);
    // Loaded once, because V8 would load them again for each four.
    const front = v128.load(table);
    const frontFactors = v128.load(table, 16);
    const back = v128.load(table, 32);
    const backFactors = v128.load(table, 48);
    const mask = v128.load(MASKS + (low << 4));
    const half = low >> 1;
    const start = i32x4.splat(sample);
    const scale = i32x4.splat(1 << low);
    // Both halves are written out, because a loop of two rounds costs a tenth.
    let high = i8x16.sub(v128.load(places), own);
    let part = i16x8.extend_low_i8x16_u(high);
    v128.store(to, sum(i32x4.extend_low_i16x8_u(part), fourOf(from, front, frontFactors, mask), scale, start), 4);
    v128.store(
      to,
      sum(i32x4.extend_high_i16x8_u(part), fourOf(from + half, back, backFactors, mask), scale, start),
      20,
    );
    from += low;
    part = i16x8.extend_high_i8x16_u(high);
    v128.store(to, sum(i32x4.extend_low_i16x8_u(part), fourOf(from, front, frontFactors, mask), scale, start), 36);
    v128.store(
      to,
      sum(i32x4.extend_high_i16x8_u(part), fourOf(from + half, back, backFactors, mask), scale, start),
      52,
    );
    from += low;
    high = i8x16.sub(v128.load(places, 16), ownBack);
    part = i16x8.extend_low_i8x16_u(high);
    v128.store(to, sum(i32x4.extend_low_i16x8_u(part), fourOf(from, front, frontFactors, mask), scale, start), 68);
    v128.store(
      to,
      sum(i32x4.extend_high_i16x8_u(part), fourOf(from + half, back, backFactors, mask), scale, start),
      84,
    );
    from += low;
    part = i16x8.extend_high_i8x16_u(high);
    v128.store(to, sum(i32x4.extend_low_i16x8_u(part), fourOf(from, front, frontFactors, mask), scale, start), 100);
    v128.store(
      to,
      sum(i32x4.extend_high_i16x8_u(part), fourOf(from + half, back, backFactors, mask), scale, start),
      116,
    );
  }
}

/** The same of low parts that are too wide for vectors. */
function joinWide(from: usize, low: u32, places: usize, sample: u32, to: usize): void {
  unpack(from, 32, low, UNPACKED);
  for (let i: u32 = 0; i < 32; i++)
    store<u32>(to + (i << 2), sample + ((load<u8>(places + i) - i) << low) + load<u32>(UNPACKED + (i << 2)), 4);
}
