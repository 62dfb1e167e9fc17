import { BitReader, BitWriter } from "./bit-stream.ts";
import { withDeltaTimes } from "./delta-times.ts";

/*
 * Pelkonen et al. 2015, section 4.1.2, for floats of 32 bits. The exclusive or with the value before is one bit if it is 0.
 * Otherwise its bits between leading and trailing zeros follow, with new numbers of these zeros if the old ones do not fit.
 */
const LEADING_BITS = 5;
const LENGTH_BITS = 5;

export const gorilla = withDeltaTimes("Gorilla, own adapter", encodeValues, decodeValues);

function encodeValues(values: Float32Array): Uint8Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const writer = new BitWriter();
  writer.put(words[0] as number, 32);
  let leading = 33;
  let trailing = 33;
  for (let i = 1; i < words.length; i++) {
    const difference = (words[i] as number) ^ (words[i - 1] as number);
    if (difference === 0) {
      writer.put(0, 1);
      continue;
    }
    const zerosBefore = Math.clz32(difference);
    const zerosAfter = 31 - Math.clz32(difference & -difference);
    if (zerosBefore >= leading && zerosAfter >= trailing) writer.put(2, 2);
    else {
      leading = zerosBefore;
      trailing = zerosAfter;
      writer.put(3, 2);
      writer.put(leading, LEADING_BITS);
      writer.put(31 - leading - trailing, LENGTH_BITS);
    }
    writer.put(difference >>> trailing, 32 - leading - trailing);
  }
  return writer.take();
}

function decodeValues(bytes: Uint8Array, values: Float32Array): void {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const reader = new BitReader(bytes);
  words[0] = reader.take(32);
  let length = 0;
  let trailing = 0;
  for (let i = 1; i < words.length; i++) {
    const before = words[i - 1] as number;
    if (reader.take(1) === 0) {
      words[i] = before;
      continue;
    }
    if (reader.take(1) === 1) {
      const leading = reader.take(LEADING_BITS);
      length = reader.take(LENGTH_BITS) + 1;
      trailing = 32 - leading - length;
    }
    words[i] = before ^ (reader.take(length) << trailing);
  }
}
