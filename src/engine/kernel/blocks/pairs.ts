import { BLOCK_TIMES_BYTES_AT, BLOCK_VALUE_TYPE_AT, MAX_IN_BLOCK, PAIRS } from "../../../generated/layouts/block.ts";
import type { Column, Kernel } from "../contract.ts";
import { decodeValues, encodeBlock } from "./block.ts";
import type { BlockCodec, BlockDecoder, BlockHead, BlockParts, PairCodec } from "./contract.ts";
import { decodeNumbers, encodeNumbers } from "./group-numbers.ts";
import { damaged } from "./head.ts";
import { decodeTimes } from "./times.ts";
import { readTotals } from "./totals.ts";

/*
 * A pair: the number of a group and an f32 value, in the bits of one f64. Its journal is one of f64 values, of value type VALUE_PAIR.
 *
 *   upper half  0x40000000 | number (20 bits)     so each pair is a number from 2 to 4, and never NaN
 *   lower half  the key of the value: its bits, all inverted if it is negative, else only the sign bit
 *
 * Law: pairs are in order of their group, and within it in order of their value: -0 before +0, NaN last. A sorted run of pairs
 * therefore has the sorted values of each group in one piece. Pairs are read and written by halves, because a float may not keep the
 * payload of NaN.
 */
export const PAIR = 0x4000_0000;
export const NUMBER_MASK = 0xf_ffff;
/** As i32, in which engines calculate fastest. */
const SIGN = 1 << 31;
/** A computed NaN may have a sign, and would then come before all numbers. */
const NAN_BITS = 0x7fc0_0000;

const lone = /* @__PURE__ */ new Float64Array(1);
const loneHalves = /* @__PURE__ */ new Int32Array(lone.buffer);
const loneValue = /* @__PURE__ */ new Float32Array(1);
const loneBits = /* @__PURE__ */ new Int32Array(loneValue.buffer);

/** The pair of a group and a value, which is rounded to f32. */
export function pairOf(number: number, value: number): number {
  loneValue[0] = value;
  loneHalves[0] = keyOfBits(Number.isNaN(value) ? NAN_BITS : loneBits[0]!);
  loneHalves[1] = PAIR | number;
  return lone[0]!;
}

/** Takes pairs apart again. */
export function eachPair(pairs: ArrayLike<number>, take: (value: number, number: number) => void): void {
  for (let i = 0; i < pairs.length; i++) {
    lone[0] = pairs[i]!;
    loneBits[0] = bitsOfKey(loneHalves[0]!);
    take(loneValue[0]!, loneHalves[1]! & NUMBER_MASK);
  }
}

/** Replaces the numbers of `count` pairs, which begin at byte `at`, a multiple of 8 in the memory of `bytes`. */
export function renumber(bytes: Uint8Array, at: number, count: number, numberOf: (number: number) => number): void {
  const halves = new Int32Array(bytes.buffer, bytes.byteOffset + at, 2 * count);
  for (let upper = 1; upper < halves.length; upper += 2) halves[upper] = PAIR | numberOf(halves[upper]! & NUMBER_MASK);
}

function keyOfBits(bits: number): number {
  return bits ^ ((bits >> 31) | SIGN);
}

/** The bits of the value that has this key. */
export function bitsOfKey(key: number): number {
  return key ^ (~(key >> 31) | SIGN);
}

const values = /* @__PURE__ */ new Float32Array(MAX_IN_BLOCK);
const valueBits = /* @__PURE__ */ new Int32Array(values.buffer);
const numbers = /* @__PURE__ */ new Uint32Array(MAX_IN_BLOCK);

function halvesOf({ buffer, byteOffset, length }: Column): Int32Array {
  return new Int32Array(buffer, byteOffset, 2 * length);
}

function valuesOf(pairs: Column): Float32Array {
  const halves = halvesOf(pairs);
  const bits = new Int32Array(pairs.length);
  for (let i = 0; i < bits.length; i++) bits[i] = bitsOfKey(halves[2 * i]!);
  return new Float32Array(bits.buffer);
}

/** Encodes 1 to 1024 events: a block of the values, and their group numbers in front of the times. */
function encode(codec: BlockCodec, kernel: Kernel, times: Float64Array, pairs: Column): BlockParts {
  const parts = encodeBlock(codec, kernel, times, valuesOf(pairs));
  const halves = halvesOf(pairs);
  for (let i = 0; i < pairs.length; i++) numbers[i] = halves[2 * i + 1]! & NUMBER_MASK;
  const column = encodeNumbers(numbers.subarray(0, pairs.length));
  const joined = new Uint8Array(column.length + parts.times.length);
  joined.set(column);
  joined.set(parts.times, column.length);
  const head = new DataView(parts.head.buffer, parts.head.byteOffset);
  head.setUint8(BLOCK_VALUE_TYPE_AT, PAIRS);
  head.setUint16(BLOCK_TIMES_BYTES_AT, joined.length, true);
  return { ...parts, times: joined };
}

function decode(codec: BlockDecoder, head: BlockHead, parts: BlockParts, times: Float64Array, pairs: Column): void {
  const { count, timesBytes } = head;
  decodeValues(codec, head, parts, values.subarray(0, count));
  const timesAt = decodeNumbers(parts.times, count, numbers);
  if (timesAt < 0) throw damaged("its group numbers do not fit their length");
  const { earliestMs } = readTotals(head, parts.totals);
  decodeTimes(codec, { ...head, timesBytes: timesBytes - timesAt }, earliestMs, parts.times.subarray(timesAt), times);
  const halves = halvesOf(pairs);
  for (let i = 0; i < count; i++) {
    halves[2 * i] = keyOfBits(valueBits[i]!);
    halves[2 * i + 1] = PAIR | numbers[i]!;
  }
}

/** The codec of pairs. A structure with groups provides it (`providePairs`). */
export const pairCodec: PairCodec = { encode, decode, valuesOf };
