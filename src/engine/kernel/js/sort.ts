import type { Column } from "../contract.ts";
import { decode, encode } from "./keys.ts";

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
