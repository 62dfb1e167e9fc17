import { chimp } from "./chimp.ts";
import { formatOne } from "./format-one.ts";
import { gorilla } from "./gorilla.ts";
import { orielBlocks } from "./oriel-blocks.ts";
import { zstd } from "./zstd.ts";

/** Stores events and gives every bit of them back. */
export interface Compressor {
  readonly name: string;
  /** Why it cannot run here, or undefined if it can. */
  missing?(): string | undefined;
  /** Times are whole ms in order. */
  encode(times: Float64Array, values: Float32Array): Uint8Array[];
  decode(stored: Uint8Array[], times: Float64Array, values: Float32Array): void;
  /** Only values, in order of arrival. */
  decodeValues?(stored: Uint8Array[], values: Float32Array): void;
  /** Only values, sorted in each block. */
  decodeSorted?(stored: Uint8Array[], values: Float32Array): void;
}

/** Every compressor, oriel last. */
export const COMPRESSORS: readonly Compressor[] = [
  formatOne,
  zstd,
  gorilla,
  chimp,
  orielBlocks("js"),
  orielBlocks("wasm-simd"),
];
