import * as zlib from "node:zlib";
import type { Compressor } from "./compressor.ts";

type Compress = (bytes: Uint8Array) => Uint8Array;
/** Node 22.15 and later have these. */
const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as Record<string, Compress | undefined>;

/** Values in order of arrival, and differences of times as u32, each as one stream of level 3. */
export const zstd: Compressor = {
  name: "zstd",
  missing: () => (zstdCompressSync && zstdDecompressSync ? undefined : "node:zlib has no zstd before Node 22.15"),
  encode(times, values) {
    const steps = new Uint32Array(times.length);
    for (let i = 1; i < times.length; i++) steps[i] = (times[i] as number) - (times[i - 1] as number);
    const first = new Uint8Array(times.slice(0, 1).buffer);
    return [first, compress(steps), compress(values)];
  },
  decode(stored, times, values) {
    const [first, steps, compressed] = stored as [Uint8Array, Uint8Array, Uint8Array];
    const differences = new Uint32Array(decompress(steps).buffer);
    times[0] = new Float64Array(new Uint8Array(first).buffer)[0] as number;
    for (let i = 1; i < times.length; i++) times[i] = (times[i - 1] as number) + (differences[i] as number);
    values.set(new Float32Array(decompress(compressed).buffer));
  },
  decodeValues: (stored, values) => values.set(new Float32Array(decompress(stored[2] as Uint8Array).buffer)),
};

function compress(column: ArrayBufferView): Uint8Array {
  return (zstdCompressSync as Compress)(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
}

/** In a buffer of its own. */
function decompress(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array((zstdDecompressSync as Compress)(bytes));
}
