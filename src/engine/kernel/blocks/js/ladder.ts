// The JS form of assembly/blocks/ladder.ts.
import { GROUP } from "../../../../generated/layouts/block.ts";
import { bitsOf, getBits, pack, packAbove, putBits } from "./bits.ts";

/** Up to this width, a read of 32 bits has a number wherever it begins. */
const ONE_READ_BITS = 25;

const samples = new Uint32Array(GROUP + 1);
const first32 = new Uint32Array(GROUP + 1);

export function groupsOf(count: number): number {
  return Math.ceil(count / GROUP);
}

function lowBits(m: number, span: number): number {
  const low = Math.max(0, bitsOf(span) - bitsOf(m + 2));
  return low + (span >>> low > m + 2 ? 1 : 0);
}

/** Bytes of a group of m numbers and its sample. */
function bytesOf(m: number, span: number): number {
  if (m === 0 || span === 0) return 0;
  const low = lowBits(m, span);
  return (m * low + m + (span >>> low) + 7) >> 3;
}

function encodeGroup(
  numbers: Uint32Array,
  from: number,
  m: number,
  first: number,
  span: number,
  view: DataView,
  at: number,
): number {
  if (m === 0 || span === 0) return at;
  const low = lowBits(m, span);
  packAbove(numbers, from, m, first, low, view, at);
  let front = 0;
  let back = 0;
  for (let i = 0; i < m; i++) {
    const place = ((numbers[from + i]! - first) >>> low) + i;
    const one = 1 << place;
    if (place < 32) front |= one;
    else back |= one;
  }
  const ones = 8 * at + m * low;
  putBits(view, ones, 32, front);
  putBits(view, ones + 32, 32, back);
  return at + bytesOf(m, span);
}

/** Writes `first` and m numbers. Returns the end, or -1 if the group is damaged. */
function decodeGroup(
  view: DataView,
  at: number,
  m: number,
  first: number,
  span: number,
  to: Uint32Array,
  index: number,
): number {
  if (m === 0 || span === 0) {
    to.fill(first, index, index + m + 1);
    return at;
  }
  to[index] = first;
  const low = lowBits(m, span);
  const ones = m + (span >>> low);
  const lows = 8 * at;
  const found = placeNumbers(view, lows, m, ones, low, first, to, index + 1);
  if (low > ONE_READ_BITS) for (let i = 0; i < m; i++) to[index + 1 + i]! += getBits(view, lows + i * low, low);
  return found === m ? at + ((m * low + ones + 7) >> 3) : -1;
}

/** Writes m numbers, without low parts that take more than one read. Returns the number of set bits. */
function placeNumbers(
  view: DataView,
  bit: number,
  m: number,
  ones: number,
  low: number,
  first: number,
  to: Uint32Array,
  index: number,
): number {
  const mask = low > ONE_READ_BITS ? 0 : (1 << low) - 1;
  let lowBit = bit;
  let found = 0;
  for (let before = 0; before < ones; before += 32) {
    let bits = getBits(view, bit + m * low + before, Math.min(32, ones - before)) | 0;
    while (bits !== 0) {
      const high = before + 31 - Math.clz32(bits & -bits) - found;
      bits &= bits - 1;
      if (found < m)
        to[index + found] = first + (high << low) + ((view.getUint32(lowBit >> 3, true) >>> (lowBit & 7)) & mask);
      lowBit += low;
      found++;
    }
  }
  return found;
}

export function encodeSamples(numbers: Uint32Array, count: number, view: DataView, at: number): number {
  const groups = groupsOf(count);
  for (let i = 0; i < groups; i++) samples[i] = numbers[GROUP * i]!;
  const top = numbers[count - 1]!;
  samples[groups] = top;
  return encodeGroup(samples, 1, groups - 1, 0, top, view, at);
}

/** The samples must be those of `encodeSamples`. */
export function encodeGroups(
  numbers: Uint32Array,
  count: number,
  lows: Uint32Array,
  shift: number,
  view: DataView,
  to: number,
): number {
  let at = to;
  for (let from = 0, i = 0; from < count; from += GROUP, i++) {
    const some = Math.min(GROUP, count - from);
    const first = samples[i]!;
    at = encodeGroup(numbers, from + 1, some - 1, first, samples[i + 1]! - first, view, at);
    if (shift > 0) at = pack(lows, from, some, shift, view, at);
  }
  return at;
}

/** The samples and the top, in memory that the next call uses again, and the end; -1 if they are damaged. */
export function decodeSamples(
  view: DataView,
  at: number,
  count: number,
  top: number,
): { first: Uint32Array; end: number } {
  const groups = groupsOf(count);
  const end = decodeGroup(view, at, groups - 1, 0, top, first32, 0);
  first32[groups] = top;
  return { first: first32, end };
}

/** Decodes groups `first` to `last` - 1, which begin at `at`, between samples. Returns the end, or -1 if they are damaged. */
export function decodeGroups(
  view: DataView,
  at: number,
  count: number,
  first: number,
  last: number,
  shift: number,
  to: Uint32Array,
  lows: Uint32Array,
): number {
  let end = at;
  for (let i = first, index = 0; i < last; i++, index += GROUP) {
    const start = first32[i]!;
    const next = first32[i + 1]!;
    if (next < start) return -1;
    const some = Math.min(GROUP, count - GROUP * i);
    end = decodeGroup(view, end, some - 1, start, next - start, to, index);
    if (end < 0) return -1;
    if (shift === 0) continue;
    for (let j = 0; j < some; j++) lows[index + j] = getBits(view, 8 * end + j * shift, shift);
    end += (some * shift + 7) >> 3;
  }
  return end;
}

/** Writes where each group begins in the body, and at last its end. */
export function writePlaces(first: Uint32Array, count: number, shift: number, places: Uint32Array): void {
  places[0] = 0;
  for (let i = 0; i + 1 < places.length; i++) {
    const some = Math.min(GROUP, count - GROUP * i);
    const span = first[i + 1]! - first[i]!;
    places[i + 1] = places[i]! + bytesOf(some - 1, span) + ((some * shift + 7) >> 3);
  }
}
