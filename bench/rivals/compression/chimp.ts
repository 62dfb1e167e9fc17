import { BitReader, BitWriter } from "./bit-stream.ts";
import { withDeltaTimes } from "./delta-times.ts";

/*
 * Liakos, Papakonstantinopoulou and Kotidis 2022, "Chimp: Efficient Lossless Floating Point Compression for Time Series
 * Databases", section 3, for floats of 32 bits. Numbers of leading zeros are rounded down to one of eight. Times are Gorilla's.
 */
const LEADING = [0, 8, 12, 16, 18, 20, 22, 24] as const;
const LEADING_BITS = 3;
const LENGTH_BITS = 5;
/** From this number of trailing zeros on, they are left out. */
const TRAILING_ZEROS = 6;
const NO_LEADING = -1;
const FLAG = { same: 0, center: 1, sameLeading: 2, newLeading: 3 } as const;

export const chimp = withDeltaTimes("Chimp, own adapter", encodeValues, decodeValues);

function encodeValues(values: Float32Array): Uint8Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const writer = new BitWriter();
  writer.put(words[0] as number, 32);
  let rowBefore = NO_LEADING;
  for (let i = 1; i < words.length; i++) {
    const difference = (words[i] as number) ^ (words[i - 1] as number);
    if (difference === 0) {
      writer.put(FLAG.same, 2);
      rowBefore = NO_LEADING;
      continue;
    }
    const zeros = Math.clz32(difference);
    const above = LEADING.findIndex((leading) => leading > zeros);
    const row = (above < 0 ? LEADING.length : above) - 1;
    const leading = LEADING[row] as number;
    const trailing = 31 - Math.clz32(difference & -difference);
    if (trailing >= TRAILING_ZEROS) {
      writer.put(FLAG.center, 2);
      writer.put(row, LEADING_BITS);
      writer.put(32 - leading - trailing, LENGTH_BITS);
      writer.put(difference >>> trailing, 32 - leading - trailing);
      rowBefore = NO_LEADING;
    } else if (row === rowBefore) {
      writer.put(FLAG.sameLeading, 2);
      writer.put(difference, 32 - leading);
    } else {
      writer.put(FLAG.newLeading, 2);
      writer.put(row, LEADING_BITS);
      writer.put(difference, 32 - leading);
      rowBefore = row;
    }
  }
  return writer.take();
}

function decodeValues(bytes: Uint8Array, values: Float32Array): void {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const reader = new BitReader(bytes);
  words[0] = reader.take(32);
  let leading = 0;
  for (let i = 1; i < words.length; i++) {
    const before = words[i - 1] as number;
    const flag = reader.take(2);
    if (flag === FLAG.same) {
      words[i] = before;
      continue;
    }
    if (flag !== FLAG.sameLeading) leading = LEADING[reader.take(LEADING_BITS)] as number;
    const length = flag === FLAG.center ? reader.take(LENGTH_BITS) : 32 - leading;
    const shift = flag === FLAG.center ? 32 - leading - length : 0;
    words[i] = before ^ (reader.take(length) << shift);
  }
}
