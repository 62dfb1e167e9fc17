// The JS form of assembly/blocks/encode.ts.
import { FORM, GROUP, MAX_IN_BLOCK } from "../../../../generated/layouts/block.ts";
import type { Column } from "../../contract.ts";
import type { EncodedValues } from "../contract.ts";
import { bitsOf } from "./bits.ts";
import { bitsOf64, findDecimals } from "./keys.ts";
import { encodeGroups, encodeSamples } from "./ladder.ts";
import { encodeOrder } from "./order.ts";
import { sortIndexes } from "./radix.ts";

/** Ordered bits and then offsets, in halves. */
const low = new Uint32Array(MAX_IN_BLOCK);
const high = new Uint32Array(MAX_IN_BLOCK);
const integers = new Float64Array(MAX_IN_BLOCK);
const sorted = new Uint16Array(MAX_IN_BLOCK);
const keys = new Uint32Array(MAX_IN_BLOCK);
const offsets = new Uint32Array(MAX_IN_BLOCK);
const lows = new Uint32Array(MAX_IN_BLOCK);

class Part {
  readonly bytes: Uint8Array;
  readonly view: DataView;

  constructor(sizeBytes: number) {
    this.bytes = new Uint8Array(sizeBytes);
    this.view = new DataView(this.bytes.buffer);
  }
}

const samplesPart = new Part(256);
const bodyPart = new Part(16 * MAX_IN_BLOCK);
const orderPart = new Part(2 * MAX_IN_BLOCK + GROUP);
const exceptionBytes = new Uint8Array(MAX_IN_BLOCK);

/** Writes ordered bits of values. Returns the least and the largest, as indexes. */
function writeKeys(words: Uint32Array, count: number, wide: boolean): { least: number; most: number } {
  return wide ? writeKeys64(words, count) : writeKeys32(words, count);
}

function writeKeys32(words: Uint32Array, count: number): { least: number; most: number } {
  let least = 0;
  let most = 0;
  let leastKey = Number.POSITIVE_INFINITY;
  let mostKey = -1;
  for (let i = 0; i < count; i++) {
    const word = words[i]!;
    const key = (word ^ ((word >> 31) | 0x8000_0000)) >>> 0;
    low[i] = key;
    high[i] = 0;
    if (key < leastKey) {
      leastKey = key;
      least = i;
    }
    if (key > mostKey) {
      mostKey = key;
      most = i;
    }
  }
  return { least, most };
}

function writeKeys64(words: Uint32Array, count: number): { least: number; most: number } {
  let least = 0;
  let most = 0;
  for (let i = 0; i < count; i++) {
    const top = words[2 * i + 1]!;
    const flips = (top | 0) >> 31;
    low[i] = words[2 * i]! ^ flips;
    high[i] = top ^ (flips | 0x8000_0000);
    if (isBelow(i, least)) least = i;
    if (isBelow(most, i)) most = i;
  }
  return { least, most };
}

function isBelow(i: number, j: number): boolean {
  return high[i]! < high[j]! || (high[i] === high[j] && low[i]! < low[j]!);
}

export function encode(values: Column): EncodedValues {
  const wide = values instanceof Float64Array;
  const count = values.length;
  const size = wide ? 8 : 4;
  const words = new Uint32Array(values.buffer, values.byteOffset, (count * size) / 4);
  const { least, most } = writeKeys(words, count, wide);
  const keyLow = low[least]!;
  const keyHigh = high[least]!;
  const keyRange = subtracted(low[most]!, high[most]!, keyLow, keyHigh);
  const exponent = findDecimals(values, bitsOf64(keyRange.low, keyRange.high), integers);
  const decimal = exponent >= 0;
  const { regular, integer, range } = decimal ? takeIntegers(count) : { regular: count, integer: 0, range: keyRange };
  if (!decimal) for (let i = 0; i < count; i++) sorted[i] = i;
  // Exceptions keep their ordered bits in `low` and `high`.
  sortExceptions(regular, count);
  if (decimal) offsetsOfIntegers(regular, integer);
  else offsetsOfKeys(count, keyLow, keyHigh);
  const shift = Math.max(0, bitsOf64(range.low, range.high) - 32);
  const top = shiftedDown(range.low, range.high, shift);
  sortRegular(regular, shift, top);
  const samples = encodeSamples(offsets, regular, emptied(samplesPart), 0);
  const body = encodeGroups(offsets, regular, lows, shift, emptied(bodyPart), 0);
  const isRepeated = wide
    ? (i: number) =>
        words[2 * sorted[i]!] === words[2 * sorted[i - 1]!] &&
        words[2 * sorted[i]! + 1] === words[2 * sorted[i - 1]! + 1]
    : (i: number) => words[sorted[i]!] === words[sorted[i - 1]!];
  const order = encodeOrder(sorted, count, isRepeated, orderPart.bytes, emptied(orderPart));
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  for (let i = regular; i < count; i++)
    exceptionBytes.set(bytes.subarray(sorted[i]! * size, (sorted[i]! + 1) * size), (i - regular) * size);
  return {
    fields: {
      form: decimal ? FORM.decimal : FORM.bits,
      order: order.kind,
      decimals: decimal ? exponent : 0,
      shift,
      distinct: order.distinct,
      exceptions: count - regular,
      top,
      integer,
      keyLow: decimal ? 0 : keyLow,
      keyHigh: decimal ? 0 : keyHigh,
    },
    samples: samplesPart.bytes.subarray(0, samples),
    exceptions: exceptionBytes.subarray(0, (count - regular) * size),
    body: bodyPart.bytes.subarray(0, body),
    order: orderPart.bytes.subarray(0, order.bytes),
  };
}

/** Lists the indexes of values with integers, then the others. */
function takeIntegers(count: number): { regular: number; integer: number; range: Halves } {
  let regular = 0;
  let integer = Number.POSITIVE_INFINITY;
  let largest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const whole = integers[i]!;
    if (Number.isNaN(whole)) continue;
    if (whole < integer) integer = whole;
    if (whole > largest) largest = whole;
    sorted[regular++] = i;
  }
  let found = regular;
  for (let i = 0; i < count; i++) if (Number.isNaN(integers[i]!)) sorted[found++] = i;
  return { regular, integer, range: halvesOf(largest - integer) };
}

function offsetsOfIntegers(regular: number, least: number): void {
  for (let i = 0; i < regular; i++) {
    const index = sorted[i]!;
    const offset = integers[index]! - least;
    low[index] = offset;
    high[index] = offset / 2 ** 32;
  }
}

function offsetsOfKeys(count: number, lowest: number, highest: number): void {
  for (let i = 0; i < count; i++) {
    const borrow = low[i]! < lowest ? 1 : 0;
    low[i]! -= lowest;
    high[i]! -= highest + borrow;
  }
}

interface Halves {
  low: number;
  high: number;
}

function halvesOf(whole: number): Halves {
  return { low: whole >>> 0, high: Math.floor(whole / 2 ** 32) };
}

function subtracted(lowA: number, highA: number, lowB: number, highB: number): Halves {
  return { low: (lowA - lowB) >>> 0, high: (highA - highB - (lowA < lowB ? 1 : 0)) >>> 0 };
}

/** The 32 bits from the bit `shift` on. */
function shiftedDown(lowHalf: number, highHalf: number, shift: number): number {
  if (shift === 0) return lowHalf;
  return shift === 32 ? highHalf : ((highHalf << (32 - shift)) | (lowHalf >>> shift)) >>> 0;
}

/** Sorts the regular indexes, and writes their offsets in order. */
function sortRegular(regular: number, shift: number, top: number): void {
  const mask = shift === 32 ? 0xffff_ffff : (1 << shift) - 1;
  if (shift > 0) {
    for (let i = 0; i < regular; i++) keys[sorted[i]!] = low[sorted[i]!]! & mask;
    sortIndexes(sorted, regular, keys, shift);
  }
  for (let i = 0; i < regular; i++) keys[sorted[i]!] = shiftedDown(low[sorted[i]!]!, high[sorted[i]!]!, shift);
  sortIndexes(sorted, regular, keys, bitsOf(top));
  for (let i = 0; i < regular; i++) {
    offsets[i] = keys[sorted[i]!]!;
    if (shift > 0) lows[i] = low[sorted[i]!]! & mask;
  }
}

/** Sorts the indexes of exceptions, which are few, by ordered bits. */
function sortExceptions(regular: number, count: number): void {
  for (let i = regular + 1; i < count; i++) {
    const index = sorted[i]!;
    let at = i;
    for (; at > regular && isBelow(index, sorted[at - 1]!); at--) sorted[at] = sorted[at - 1]!;
    sorted[at] = index;
  }
}

function emptied({ bytes, view }: Part): DataView {
  bytes.fill(0);
  return view;
}
