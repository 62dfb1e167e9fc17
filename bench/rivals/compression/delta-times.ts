import { BitReader, BitWriter } from "./bit-stream.ts";
import type { Compressor } from "./compressor.ts";

// Pelkonen et al. 2015, "Gorilla: A Fast, Scalable, In-Memory Time Series Database", section 4.1.1: differences of differences.
const WIDTHS = [7, 9, 12, 32] as const;
const FIRST_BITS = 32;

/** Writes whole ms, of which the first lies below 2^53. */
function putTimes(writer: BitWriter, times: Float64Array): void {
  const first = times[0] as number;
  writer.put(Math.floor(first / 2 ** FIRST_BITS), FIRST_BITS);
  writer.put(first >>> 0, FIRST_BITS);
  let before = 0;
  for (let i = 1; i < times.length; i++) {
    const delta = (times[i] as number) - (times[i - 1] as number);
    const change = delta - before;
    before = delta;
    if (change === 0) {
      writer.put(0, 1);
      continue;
    }
    const row = WIDTHS.findIndex((width) => change > -(2 ** (width - 1)) && change <= 2 ** (width - 1));
    // As many ones as the row, and a zero after them except in the last one.
    if (row === WIDTHS.length - 1) writer.put(15, 4);
    else writer.put((2 << (row + 1)) - 2, row + 2);
    writer.put(change + 2 ** ((WIDTHS[row] as number) - 1) - 1, WIDTHS[row] as number);
  }
}

function takeTimes(reader: BitReader, times: Float64Array): void {
  times[0] = reader.take(FIRST_BITS) * 2 ** FIRST_BITS + reader.take(FIRST_BITS);
  let delta = 0;
  for (let i = 1; i < times.length; i++) {
    const row = reader.ones(WIDTHS.length) - 1;
    if (row >= 0) delta += reader.take(WIDTHS[row] as number) - 2 ** ((WIDTHS[row] as number) - 1) + 1;
    times[i] = (times[i - 1] as number) + delta;
  }
}

/** A compressor that stores the times as deltas of deltas, and the values apart. */
export function withDeltaTimes(
  name: string,
  encodeValues: (values: Float32Array) => Uint8Array,
  decodeValues: (stored: Uint8Array, values: Float32Array) => void,
): Compressor {
  return {
    name,
    encode(times, values) {
      const writer = new BitWriter();
      putTimes(writer, times);
      const timeBytes = writer.take();
      return [timeBytes, encodeValues(values)];
    },
    decode(stored, times, values) {
      takeTimes(new BitReader(stored[0] as Uint8Array), times);
      decodeValues(stored[1] as Uint8Array, values);
    },
    decodeValues: (stored, values) => decodeValues(stored[1] as Uint8Array, values),
  };
}
