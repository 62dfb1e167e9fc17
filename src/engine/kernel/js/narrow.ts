import type { Column } from "../contract.ts";
import type { Narrowed } from "../passes/passes.ts";
import { bitsOfKey, keyOfBits } from "./keys.ts";

const histogram = new Uint32Array(2048);
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
  histogram.fill(0);
  for (let i = 0; i < values.length; i++) histogram[(wordOf(values[i]!) - base) >>> shift]!++;
  const floatAt = (key: number, rest: number) =>
    wide ? (byLowWord ? floatOf(highWord(low), key) : floatOf(key, rest)) : float32Of(key);
  let range = 0;
  let before = 0;
  while (before + histogram[range]! <= k) before += histogram[range++]!;
  // Clipped to the limits, because keys below that of -Infinity and above that of +Infinity are NaN.
  const begin = range * 2 ** shift;
  const end = begin + 2 ** shift - 1;
  const first = begin === 0 ? low : floatAt(base + begin, 0);
  let last = end >= span ? high + 0 : floatAt(base + end, 2 ** 32 - 1);
  // No value has the key of -0. As a limit, -0 would include +0.
  if (Object.is(last, -0)) last = wide ? -5e-324 : -(2 ** -149);
  if (k + 1 < values.length && before + histogram[range]! === k + 1)
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
