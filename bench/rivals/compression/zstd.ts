import { spawnSync } from "node:child_process";
import * as zlib from "node:zlib";
import type { Compressor } from "./compressor.ts";

type Convert = (bytes: Uint8Array) => Uint8Array;
/** Node 22.15 and later have these. */
const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as Record<string, Convert | undefined>;
const inProcess = zstdCompressSync !== undefined && zstdDecompressSync !== undefined;

/** Values in order of arrival, and differences of times as u32, each as one stream of level 3. */
export const zstd: Compressor = {
  name: "zstd",
  missing: () => (inProcess ? undefined : "node:zlib has no zstd before Node 22.15"),
  ...columns(zstdCompressSync as Convert, zstdDecompressSync as Convert),
};

/** The same by the program zstd in an older Node. The start of a program takes time, so only its bytes are comparable. */
export const zstdBytes: Compressor = inProcess
  ? zstd
  : {
      name: zstd.name,
      missing: () =>
        spawnSync("zstd", ["--version"]).status === 0 ? undefined : "there is no program zstd, nor zstd in node:zlib",
      ...columns(
        (bytes) => runZstd(["-3", "--no-check", `--stream-size=${bytes.length}`], bytes),
        (bytes) => runZstd(["-d"], bytes),
      ),
    };

function columns(compress: Convert, decompress: Convert): Pick<Compressor, "encode" | "decode" | "decodeValues"> {
  /** In a buffer of its own. */
  const bufferOf = (bytes: Uint8Array) => new Uint8Array(decompress(bytes)).buffer;
  return {
    encode(times, values) {
      const steps = new Uint32Array(times.length);
      for (let i = 1; i < times.length; i++) steps[i] = (times[i] as number) - (times[i - 1] as number);
      const first = new Uint8Array(times.slice(0, 1).buffer);
      return [first, compress(bytesOf(steps)), compress(bytesOf(values))];
    },
    decode(stored, times, values) {
      const [first, steps, compressed] = stored as [Uint8Array, Uint8Array, Uint8Array];
      const differences = new Uint32Array(bufferOf(steps));
      times[0] = new Float64Array(new Uint8Array(first).buffer)[0] as number;
      for (let i = 1; i < times.length; i++) times[i] = (times[i - 1] as number) + (differences[i] as number);
      values.set(new Float32Array(bufferOf(compressed)));
    },
    decodeValues: (stored, values) => values.set(new Float32Array(bufferOf(stored[2] as Uint8Array))),
  };
}

function bytesOf(column: ArrayBufferView): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

function runZstd(options: string[], input: Uint8Array): Uint8Array {
  const { status, stdout, stderr } = spawnSync("zstd", [...options, "-c"], { input, maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`zstd ${options.join(" ")} failed: ${stderr}`);
  return stdout;
}
