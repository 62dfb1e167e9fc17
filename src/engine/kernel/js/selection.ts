import type { Column } from "../contract.ts";
import type { Census, Collected, Narrowed } from "../passes/passes.ts";
import { bitsOfKey, decode, encode, keyOfBits } from "./keys.ts";

/** Values per block of a loop. A block of f64 stays in the first-level cache. */
export const BLOCK = 4096;

const wide = new Float64Array(BLOCK);

/**
 * At most `BLOCK` values as f64, valid until the next call. With it, the loops over values read one array type only. A
 * loop that has read both f32 and f64 arrays is several times slower in V8, which then checks the type for each value.
 */
export function widen(values: Column, begin: number, end: number): Float64Array {
  return values instanceof Float64Array ? values.subarray(begin, end) : widened(values, begin, end);
}

function widened(values: Float32Array, begin: number, end: number): Float64Array {
  for (let i = begin; i < end; i++) wide[i - begin] = values[i]!;
  return wide.subarray(0, end - begin);
}

/** The JavaScript form of assembly/selection/census.ts. */
export function census(values: Column): Census {
  let nan = 0;
  let positiveInfinity = 0;
  let negativeInfinity = 0;
  let negativeZero = 0;
  let positiveZero = 0;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x === 0) {
      if (1 / x > 0) positiveZero++;
      else negativeZero++;
    } else if (x - x !== 0) {
      if (x > 0) positiveInfinity++;
      else if (x < 0) negativeInfinity++;
      else nan++;
    }
  }
  return { nan, positiveInfinity, negativeInfinity, negativeZero, positiveZero };
}

/** The JavaScript form of assembly/selection/rank.ts. */
export function rank(values: Column, limit: number): { below: number; equal: number; above: number } {
  let below = 0;
  let equal = 0;
  let above = 0;
  for (let begin = 0; begin < values.length; begin += BLOCK) {
    const block = widen(values, begin, Math.min(begin + BLOCK, values.length));
    for (let i = 0; i < block.length; i++) {
      const x = block[i]!;
      if (x < limit) below++;
      else if (x > limit) above++;
      else if (x === limit) equal++;
    }
  }
  return { below, equal, above };
}

/** The JavaScript form of assembly/selection/collect.ts. Appends to `pile`, in its buffer, if it is passed. */
export function collect(values: Column, first: number, last: number, pile?: Column): Collected<Column> {
  const buffer = (pile?.buffer ?? new ArrayBuffer(values.byteLength)) as ArrayBuffer;
  const out = values instanceof Float32Array ? new Float32Array(buffer) : new Float64Array(buffer);
  const held = pile?.length ?? 0;
  let below = 0;
  let count = held;
  let allNumbers = true;
  for (let begin = 0; begin < values.length; begin += BLOCK) {
    const block = widen(values, begin, Math.min(begin + BLOCK, values.length));
    const whole = block.length - 3;
    for (let i = 0; i < block.length; ) {
      // Skips four values at a time while all are below. For a high percentile, most values are.
      while (
        i < whole &&
        block[i]! < first &&
        block[i + 1]! < first &&
        block[i + 2]! < first &&
        block[i + 3]! < first
      ) {
        i += 4;
        below += 4;
      }
      for (const next = Math.min(block.length, i + 4); i < next; i++) {
        const x = block[i]!;
        if (x >= first) {
          if (x <= last) out[count++] = x;
        } else {
          below++;
          if (!(x < first)) allNumbers = false;
        }
      }
    }
  }
  return { below, allNumbers, count: count - held, inside: out.subarray(0, count) };
}

const rangeCounts = new Uint32Array(2048);
const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);
const scratch32 = new Float32Array(1);
const word32 = new Uint32Array(scratch32.buffer);

/**
 * The JavaScript form of assembly/selection/narrow.ts, on one 32-bit word of the keys. For f64, that is the high word
 * while `low` and `high` differ in it, then the low word. The ranges may differ from those of the WebAssembly kernels.
 * The values found are the same.
 */
export function narrow(values: Column, k: number, low: number, high: number): Narrowed {
  const wide = values instanceof Float64Array;
  const byLowWord = wide && highWord(low) === highWord(high);
  const wordOf = wide ? (byLowWord ? lowWord : highWord) : onlyWord;
  const base = wordOf(low);
  const span = wordOf(high) - base;
  const shift = Math.max(0, 21 - Math.clz32(span));
  rangeCounts.fill(0);
  for (let i = 0; i < values.length; i++) rangeCounts[(wordOf(values[i]!) - base) >>> shift]!++;
  const floatAt = (key: number, rest: number) =>
    wide ? (byLowWord ? floatOf(highWord(low), key) : floatOf(key, rest)) : float32Of(key);
  let range = 0;
  let before = 0;
  while (before + rangeCounts[range]! <= k) before += rangeCounts[range++]!;
  // Clipped to the limits, because keys below that of -Infinity and above that of +Infinity are NaN.
  const begin = range * 2 ** shift;
  const end = begin + 2 ** shift - 1;
  const first = begin === 0 ? low : floatAt(base + begin, 0);
  let last = end >= span ? high + 0 : floatAt(base + end, 2 ** 32 - 1);
  // No value has the key of -0. As a limit, -0 would include +0.
  if (Object.is(last, -0)) last = wide ? -5e-324 : -(2 ** -149);
  if (k + 1 < values.length && before + rangeCounts[range]! === k + 1)
    return { before, found: true, ...around(values, last, low, high) };
  return { before, found: shift === 0 && (byLowWord || !wide), first, last };
}

/** The largest value up to a limit, and the smallest above it. */
function around(values: Column, limit: number, low: number, high: number): { first: number; last: number } {
  let first = low;
  let last = high;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x <= limit) {
      if (x > first) first = x;
    } else if (x < last) last = x;
  }
  return { first, last };
}

function onlyWord(x: number): number {
  scratch32[0] = x + 0;
  return keyOfBits(word32[0]!);
}

function highWord(x: number): number {
  scratch[0] = x + 0;
  const bits = words[1]!;
  return (bits ^ ((bits >> 31) | 0x80000000)) >>> 0;
}

function lowWord(x: number): number {
  scratch[0] = x + 0;
  return (words[0]! ^ (words[1]! >> 31)) >>> 0;
}

function float32Of(key: number): number {
  word32[0] = bitsOfKey(key);
  return scratch32[0]!;
}

function floatOf(high: number, low: number): number {
  const negative = ~(high >> 31);
  words[1] = high ^ (negative | 0x80000000);
  words[0] = low ^ negative;
  return scratch[0]!;
}

const histogram = new Uint32Array(2048);

/** The JavaScript form of assembly/selection/sort.ts: insertion sort for few values, else LSD radix sort of keys. */
export function sort(values: Column): void {
  const stride = values instanceof Float32Array ? 1 : 2;
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * stride);
  encode(words, stride);
  decode(values.length <= 32 ? insert(words, stride) : radix(words, stride), words, stride);
}

function insert(words: Uint32Array, stride: number): Uint32Array {
  const top = stride - 1;
  for (let i = stride; i < words.length; i += stride) {
    const low = words[i]!;
    const high = words[i + top]!;
    let p = i;
    while (p > 0) {
      const before = words[p - 1]!;
      if (before < high || (before === high && words[p - stride]! <= low)) break;
      words[p] = words[p - stride]!;
      words[p + top] = before;
      p -= stride;
    }
    words[p] = low;
    words[p + top] = high;
  }
  return words;
}

/** Returns the array with the sorted keys: `words`, or another one. */
function radix(words: Uint32Array, stride: number): Uint32Array {
  const bits = words.length / stride < 1536 ? 8 : 11;
  let source: Uint32Array = words;
  let target: Uint32Array = new Uint32Array(words.length);
  for (let word = 0; word < stride; word++)
    for (let shift = 0; shift < 32; shift += bits)
      if (scatter(source, target, stride, word, shift, (1 << bits) - 1)) [source, target] = [target, source];
  return source;
}

/** Sorts by one digit. Returns false, and moves nothing, if the digit is equal in all keys. */
function scatter(
  source: Uint32Array,
  target: Uint32Array,
  stride: number,
  word: number,
  shift: number,
  mask: number,
): boolean {
  histogram.fill(0, 0, mask + 1);
  for (let i = word; i < source.length; i += stride) histogram[(source[i]! >>> shift) & mask]!++;
  if (histogram[(source[word]! >>> shift) & mask]! * stride === source.length) return false;
  let next = 0;
  for (let digit = 0; digit <= mask; digit++) {
    const size = histogram[digit]!;
    histogram[digit] = next;
    next += size;
  }
  if (stride === 1) {
    for (let i = 0; i < source.length; i++) {
      const key = source[i]!;
      target[histogram[(key >>> shift) & mask]!++] = key;
    }
    return true;
  }
  for (let i = 0; i < source.length; i += 2) {
    const place = histogram[(source[i + word]! >>> shift) & mask]!++ * 2;
    target[place] = source[i]!;
    target[place + 1] = source[i + 1]!;
  }
  return true;
}

/** The JavaScript form of assembly/selection/trim.ts. On 32-bit words it creates no BigInt, and keeps NaN payloads. */
export function trim(
  times: BigInt64Array,
  values: Column,
  first: bigint,
  last: bigint,
): { times: BigInt64Array; values: Column } {
  const count = times.length;
  const stride = values instanceof Float32Array ? 1 : 2;
  const keptTimes = new BigInt64Array(count);
  const keptValues = stride === 1 ? new Float32Array(count) : new Float64Array(count);
  const low = new Uint32Array(times.buffer, times.byteOffset, count * 2);
  const high = new Int32Array(times.buffer, times.byteOffset, count * 2);
  const words = new Uint32Array(values.buffer, values.byteOffset, count * stride);
  const timesOut = new Uint32Array(keptTimes.buffer);
  const wordsOut = new Uint32Array(keptValues.buffer);
  const firstHigh = Number(first >> 32n);
  const firstLow = Number(first & 0xffffffffn);
  const lastHigh = Number(last >> 32n);
  const lastLow = Number(last & 0xffffffffn);
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const h = high[2 * i + 1]!;
    const l = low[2 * i]!;
    if (h < firstHigh || (h === firstHigh && l < firstLow)) continue;
    if (h > lastHigh || (h === lastHigh && l > lastLow)) continue;
    timesOut[2 * kept] = l;
    timesOut[2 * kept + 1] = h;
    wordsOut[stride * kept] = words[stride * i]!;
    if (stride === 2) wordsOut[2 * kept + 1] = words[2 * i + 1]!;
    kept++;
  }
  return { times: keptTimes.slice(0, kept), values: keptValues.slice(0, kept) };
}
