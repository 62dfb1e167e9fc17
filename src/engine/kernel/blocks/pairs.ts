import { BLOCK_TIMES_BYTES_AT, BLOCK_VALUE_TYPE_AT, MAX_IN_BLOCK, PAIRS } from "../../../generated/layouts/block.ts";
import type { Column, Kernel } from "../contract.ts";
import { decodeValues, encodeBlock } from "./block.ts";
import type { BlockCodec, BlockDecoder, BlockHead, BlockParts, PairCodec } from "./contract.ts";
import { decodeNumbers, encodeNumbers } from "./group-numbers.ts";
import { damaged } from "./head.ts";
import { decodeTimes } from "./times.ts";
import { readTotals } from "./totals.ts";

/*
 * A pair is an f64 in [2, 4): its upper half is PAIR with a group number, its lower half the key of an f32 value. Pairs are read and written
 * by halves, because a float may not keep the payload of NaN.
 */
export const PAIR = 0x4000_0000;
export const NUMBER_MASK = 0xf_ffff;
/** As i32, in which engines calculate fastest. */
const SIGN = 1 << 31;

const values = /* @__PURE__ */ new Float32Array(MAX_IN_BLOCK);
const valueBits = /* @__PURE__ */ new Int32Array(values.buffer);
const numbers = /* @__PURE__ */ new Uint32Array(MAX_IN_BLOCK);

function halvesOf({ buffer, byteOffset, length }: Column): Int32Array {
  return new Int32Array(buffer, byteOffset, 2 * length);
}

function valuesOf(pairs: Column): Float32Array {
  const halves = halvesOf(pairs);
  const bits = new Int32Array(pairs.length);
  for (let i = 0; i < bits.length; i++) {
    const key = halves[2 * i]!;
    bits[i] = key ^ (~(key >> 31) | SIGN);
  }
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
    const bits = valueBits[i]!;
    halves[2 * i] = bits ^ ((bits >> 31) | SIGN);
    halves[2 * i + 1] = PAIR | numbers[i]!;
  }
}

/** The codec of pairs. A structure with groups provides it (`providePairs`). */
export const pairCodec: PairCodec = { encode, decode, valuesOf };
