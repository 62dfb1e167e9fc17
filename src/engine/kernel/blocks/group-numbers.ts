import {
  BY_CLASS,
  MAX_CODE_BITS,
  MAX_IN_BLOCK,
  MAX_NUMBER_BITS,
  NUMBERS_BYTES,
  NUMBERS_SIZE_BYTES_AT,
  NUMBERS_WIDTH_AT,
} from "../../../generated/layouts/block.ts";
import { bitsOf, pack, putBits } from "./js/bits.ts";

/*
 * The group numbers of a block, in order of arrival (README.md, Pairs). Numbers are assigned in order of first appearance, so small ones
 * are frequent. The class of a number is the count of its bits. A class has a Huffman code, and below its highest bit a number is as good
 * as random.
 */

const CLASSES = MAX_NUMBER_BITS + 1;
const SLOTS = 1 << MAX_CODE_BITS;
/** Bytes of one number. */
const ONE_BYTES = 4;
/** A code and the rest of its number fit into a word, from any bit of a byte on. So the largest column is that of plain numbers. */
const MAX_BYTES = NUMBERS_BYTES + ((MAX_IN_BLOCK * MAX_NUMBER_BITS) >> 3);
/** Damaged codes are read up to this far. */
const input = /* @__PURE__ */ new Uint8Array(2 * MAX_BYTES);
const inputView = /* @__PURE__ */ new DataView(input.buffer);
/** Numbers that are coded take at most a code more. */
const output = /* @__PURE__ */ new Uint8Array(2 * MAX_BYTES);
const outputView = /* @__PURE__ */ new DataView(output.buffer);
const counts = /* @__PURE__ */ new Uint32Array(CLASSES);
/** Of groups of classes, whose members are bits. */
const weights = /* @__PURE__ */ new Uint32Array(CLASSES);
const members = /* @__PURE__ */ new Uint32Array(CLASSES);
const lengths = /* @__PURE__ */ new Uint8Array(CLASSES);
const codes = /* @__PURE__ */ new Uint8Array(CLASSES);
/** By the next bits of a column: the bits of a number with its code, above them the length of the code, then whether the number is 0. */
const slots = /* @__PURE__ */ new Uint16Array(SLOTS);
const STEP_MASK = 31;
const LENGTH_SHIFT = 5;
const LENGTH_MASK = 7;
const ZERO_SHIFT = 8;

/** Encodes 1 to 1024 numbers. The bytes are a view that is valid until the next call. */
export function encodeNumbers(numbers: Uint32Array): Uint8Array {
  output.fill(0);
  counts.fill(0);
  let largest = 0;
  let isOne = true;
  for (const number of numbers) {
    counts[bitsOf(number)]!++;
    if (number > largest) largest = number;
    if (number !== numbers[0]) isOne = false;
  }
  const width = isOne ? 0 : bitsOf(largest);
  const codedEnd = isOne ? Number.POSITIVE_INFINITY : planCodes(width, numbers.length);
  const plainEnd = NUMBERS_BYTES + (isOne ? ONE_BYTES : (numbers.length * width + 7) >> 3);
  const end = Math.min(codedEnd, plainEnd);
  outputView.setUint16(NUMBERS_SIZE_BYTES_AT, end - NUMBERS_BYTES, true);
  outputView.setUint8(NUMBERS_WIDTH_AT, codedEnd < plainEnd ? BY_CLASS : width);
  if (isOne) outputView.setUint32(NUMBERS_BYTES, largest, true);
  else if (codedEnd < plainEnd) writeCodes(numbers, width);
  else pack(numbers, 0, numbers.length, width, outputView, NUMBERS_BYTES);
  return output.subarray(0, end);
}

/** Chooses the codes of classes up to `most`. Returns the end of the bytes. A lone class has no complete code. */
function planCodes(most: number, count: number): number {
  if (counts[most] === count) return Number.POSITIVE_INFINITY;
  measureCodes();
  let bits = 0;
  for (let its = 0; its <= most; its++) bits += counts[its]! * (lengths[its]! + restOf(its));
  return tableEnd(most) + ((bits + 7) >> 3);
}

/** Lengths of a Huffman code of the counts. If one is too long, counts are made more equal. */
function measureCodes(): void {
  let isTooLong = true;
  for (let shift = 0; isTooLong; shift++) {
    for (let its = 0; its < CLASSES; its++) {
      weights[its] = counts[its] === 0 ? 0 : (counts[its]! >> shift) + 1;
      members[its] = 1 << its;
    }
    lengths.fill(0);
    while (joinLightest());
    isTooLong = lengths.some((length) => length > MAX_CODE_BITS);
  }
}

/** Joins the two lightest groups of classes, whose codes get one bit more. Returns false if there is only one group. */
function joinLightest(): boolean {
  let lightest = -1;
  let next = -1;
  for (let i = 0; i < CLASSES; i++) {
    const weight = weights[i]!;
    if (weight === 0) continue;
    if (lightest < 0 || weight < weights[lightest]!) {
      next = lightest;
      lightest = i;
    } else if (next < 0 || weight < weights[next]!) next = i;
  }
  if (next < 0) return false;
  weights[next]! += weights[lightest]!;
  weights[lightest] = 0;
  members[next]! |= members[lightest]!;
  for (let its = 0; its < CLASSES; its++) lengths[its]! += (members[next]! >> its) & 1;
  return true;
}

/** Fills codes and slots from the lengths. Returns whether the codes are complete: each slot then has one. */
function assignCodes(): boolean {
  let next = 0;
  for (let length = 1; length <= MAX_CODE_BITS; length++)
    for (let its = 0; its < CLASSES; its++) {
      if (lengths[its] !== length) continue;
      codes[its] = reversed(next);
      const end = next + (SLOTS >> length);
      const slot = (length + restOf(its)) | (length << LENGTH_SHIFT) | (its === 0 ? 1 << ZERO_SHIFT : 0);
      for (; next < end; next++) slots[reversed(next)] = slot;
    }
  return next === SLOTS;
}

/** Codes are read from the lowest bit on. */
function reversed(slot: number): number {
  let bits = 0;
  for (let i = 0; i < MAX_CODE_BITS; i++) bits |= ((slot >> i) & 1) << (MAX_CODE_BITS - 1 - i);
  return bits;
}

/** Bits of a number below its highest one, which follows from its class. */
function restOf(its: number): number {
  return its > 1 ? its - 1 : 0;
}

/** Where the codes begin: after the largest class and the lengths of the codes of all classes up to it. */
function tableEnd(most: number): number {
  return NUMBERS_BYTES + 1 + ((most + 2) >> 1);
}

function writeCodes(numbers: Uint32Array, most: number): void {
  assignCodes();
  outputView.setUint8(NUMBERS_BYTES, most);
  for (let its = 0; its <= most; its++) putBits(outputView, 8 * (NUMBERS_BYTES + 1) + 4 * its, 4, lengths[its]!);
  let bit = 8 * tableEnd(most);
  for (const number of numbers) {
    const its = bitsOf(number);
    const length = lengths[its]!;
    const rest = restOf(its);
    putBits(outputView, bit, length + rest, codes[its]! | ((number & ((1 << rest) - 1)) << length));
    bit += length + rest;
  }
}

/** Writes `count` numbers to `out`. `bytes` begins with them. Returns where they end, or -1 if they are damaged. Cost: 2 to 4 ns a number. */
export function decodeNumbers(bytes: Uint8Array, count: number, out: Uint32Array): number {
  input.set(bytes.subarray(0, MAX_BYTES));
  const end = NUMBERS_BYTES + inputView.getUint16(NUMBERS_SIZE_BYTES_AT, true);
  const width = inputView.getUint8(NUMBERS_WIDTH_AT);
  if (bytes.length < NUMBERS_BYTES || end > bytes.length || end > MAX_BYTES) return -1;
  const foundEnd =
    width === BY_CLASS ? readCodes(count, out) : width === 0 ? readOne(count, out) : readPlain(width, count, out);
  return foundEnd === end ? end : -1;
}

function readOne(count: number, out: Uint32Array): number {
  const number = inputView.getUint32(NUMBERS_BYTES, true);
  out.fill(number, 0, count);
  return bitsOf(number) > MAX_NUMBER_BITS ? -1 : NUMBERS_BYTES + ONE_BYTES;
}

function readPlain(width: number, count: number, out: Uint32Array): number {
  if (width > MAX_NUMBER_BITS) return -1;
  const mask = (1 << width) - 1;
  let bit = 8 * NUMBERS_BYTES;
  for (let i = 0; i < count; i++, bit += width) out[i] = (inputView.getUint32(bit >> 3, true) >>> (bit & 7)) & mask;
  return (bit + 7) >> 3;
}

function readCodes(count: number, out: Uint32Array): number {
  const most = inputView.getUint8(NUMBERS_BYTES);
  if (most > MAX_NUMBER_BITS) return -1;
  lengths.fill(0);
  for (let its = 0; its <= most; its++)
    lengths[its] = (inputView.getUint8(NUMBERS_BYTES + 1 + (its >> 1)) >> (4 * (its & 1))) & 15;
  if (!assignCodes()) return -1;
  let bit = 8 * tableEnd(most);
  for (let i = 0; i < count; i++) {
    const word = inputView.getUint32(bit >> 3, true) >>> (bit & 7);
    const slot = slots[word & (SLOTS - 1)]!;
    const step = slot & STEP_MASK;
    const length = (slot >> LENGTH_SHIFT) & LENGTH_MASK;
    const top = 1 << (step - length);
    out[i] = (top | ((word >>> length) & (top - 1))) - (slot >> ZERO_SHIFT);
    bit += step;
  }
  return (bit + 7) >> 3;
}
