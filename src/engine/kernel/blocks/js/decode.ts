// The JS form of assembly/blocks/decode.ts.
import { BLOCK_BYTES, FORM, GROUP, MAX_IN_BLOCK, ORDER } from "../../../../generated/layouts/block.ts";
import type { Column } from "../../contract.ts";
import type { BlockDecoder, BlockHead } from "../contract.ts";
import { ranksOf, shuffle } from "./arrange.ts";
import { powerOfTen } from "./keys.ts";
import { decodeGroups, decodeSamples } from "./ladder.ts";
import { decodeTimes } from "./times.ts";

/** Damaged bytes are read up to this far. */
const MAX_BYTES = 65_536;
const input = new Uint8Array(MAX_BYTES);
const view = new DataView(input.buffer);
const offsets = new Uint32Array(MAX_IN_BLOCK + GROUP);
const lows = new Uint32Array(MAX_IN_BLOCK + GROUP);
const sortedWords = new Uint32Array(2 * (MAX_IN_BLOCK + GROUP));
const sortedBytes = new Uint8Array(sortedWords.buffer);
const sorted32 = new Float32Array(sortedWords.buffer);
const sorted64 = new Float64Array(sortedWords.buffer);

function decodeSome(
  head: BlockHead,
  bytes: Uint8Array,
  body: Uint8Array,
  first: number,
  last: number,
  out: Column,
): boolean {
  input.set(bytes);
  input.set(body, bytes.length);
  if (decodeRegular(head, bytes.length, body.length, first, last) < 0) return false;
  out.set(head.wide ? sorted64.subarray(0, out.length) : sorted32.subarray(0, out.length));
  return true;
}

function decodeAll(
  head: BlockHead,
  bytes: Uint8Array,
  body: Uint8Array,
  order: Uint8Array | undefined,
  out: Column,
): boolean {
  const { count, wide, exceptions } = head;
  input.set(bytes);
  input.set(body, bytes.length);
  const regular = decodeRegular(head, bytes.length, body.length, 0, MAX_IN_BLOCK);
  if (regular < 0) return false;
  const size = wide ? 8 : 4;
  if (exceptions > 0) sortedBytes.set(bytes.subarray(bytes.length - exceptions * size), regular * size);
  if (!order || head.order === ORDER.none) {
    out.set(wide ? sorted64.subarray(0, count) : sorted32.subarray(0, count));
    return true;
  }
  const orderAt = bytes.length + body.length;
  input.set(order, orderAt);
  const words = new Uint32Array(out.buffer, out.byteOffset, out.byteLength / 4);
  if (!wide && head.order === ORDER.permutation) {
    if (!shuffle(sortedWords, count, view, orderAt)) return false;
    words.set(sortedWords.subarray(0, count));
    return true;
  }
  const ranks = ranksOf(head.order, count, head.distinct, view, orderAt, wide ? isRepeated64 : isRepeated32);
  if (!ranks) return false;
  if (wide) copyPairs(ranks, words, count);
  else for (let i = 0; i < count; i++) words[i] = sortedWords[ranks[i]!]!;
  return true;
}

/** f64 as two u32 each, because a float may not keep the payload of NaN. */
function copyPairs(ranks: Uint32Array, words: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const rank = 2 * ranks[i]!;
    words[2 * i] = sortedWords[rank]!;
    words[2 * i + 1] = sortedWords[rank + 1]!;
  }
}

function isRepeated32(rank: number): boolean {
  return sortedWords[rank] === sortedWords[rank - 1];
}

function isRepeated64(rank: number): boolean {
  return sortedWords[2 * rank] === sortedWords[2 * rank - 2] && sortedWords[2 * rank + 1] === sortedWords[2 * rank - 1];
}

/** Writes the regular values of some groups, ascending. Returns their number, or -1 if they are damaged. */
function decodeRegular(head: BlockHead, headBytes: number, bodyBytes: number, first: number, last: number): number {
  const { wide, shift, top } = head;
  const regular = head.count - head.exceptions;
  const samplesEnd = headBytes - head.exceptions * (wide ? 8 : 4);
  if (decodeSamples(view, BLOCK_BYTES, regular, top).end !== samplesEnd) return -1;
  const groups = Math.min(last, Math.ceil(regular / GROUP));
  const end = decodeGroups(view, headBytes, regular, first, groups, shift, offsets, lows);
  if (end !== headBytes + bodyBytes) return -1;
  const some = Math.min(regular, groups * GROUP) - first * GROUP;
  writeValues(head, some);
  return some;
}

/** Turns offsets into values. */
function writeValues(head: BlockHead, some: number): void {
  const { form, wide, shift, decimals, integer } = head;
  if (form === FORM.decimal) {
    const power = powerOfTen(decimals);
    if (wide) {
      const step = 2 ** shift;
      for (let i = 0; i < some; i++)
        sorted64[i] = (integer + (shift > 0 ? offsets[i]! * step + lows[i]! : offsets[i]!)) / power;
    } else {
      const inverse = 1 / power;
      for (let i = 0; i < some; i++) sorted32[i] = ((integer + offsets[i]!) | 0) * inverse;
    }
  } else if (wide) bits64(head, some);
  else
    for (let i = 0; i < some; i++) {
      const key = (head.keyLow + offsets[i]!) | 0;
      sortedWords[i] = key ^ (~(key >> 31) | 0x8000_0000);
    }
}

/** Writes the values of offsets whose low parts are unknown, so that none is above the real one. */
export function writeLeast(head: BlockHead, numbers: Uint32Array, out: Column): void {
  offsets.set(numbers);
  if (head.shift > 0) lows.fill(0, 0, numbers.length);
  writeValues(head, numbers.length);
  const sorted = head.wide ? sorted64 : sorted32;
  for (let i = 0; i < out.length; i++) out[i] = sorted[i]!;
}

function bits64({ keyLow, keyHigh, shift }: BlockHead, some: number): void {
  for (let i = 0; i < some; i++) {
    const x = offsets[i]!;
    const low = shift === 0 ? x : shift === 32 ? lows[i]! : ((x << shift) | lows[i]!) >>> 0;
    const high = shift === 0 ? 0 : shift === 32 ? x : x >>> (32 - shift);
    const sum = keyLow + low;
    const top = (keyHigh + high + (sum >= 2 ** 32 ? 1 : 0)) | 0;
    const flips = ~(top >> 31);
    sortedWords[2 * i] = sum ^ flips;
    sortedWords[2 * i + 1] = top ^ (flips | 0x8000_0000);
  }
}

/** The part of the codec in JavaScript that reads. Bundles of processes that never encode blocks have only this one. */
export const jsDecoder: BlockDecoder = { name: "js", decodeGroups: decodeSome, decode: decodeAll, decodeTimes };
