import type { Wavelet } from "../contract.ts";
import type { WasmExports } from "./wasm-exports.ts";
import { WasmMemory } from "./wasm-memory.ts";

const MAX_BYTES = 2 ** 31;

/** Wavelet matrices in the memory of an instance that nothing else uses. It is freed with this object. */
export class WasmWavelet implements Wavelet {
  readonly start: number;
  words: Uint32Array;
  readonly select: Wavelet["select"];
  readonly #wasm: WasmExports;
  readonly #memory: WasmMemory;

  constructor(exports: WasmExports) {
    this.#wasm = exports;
    this.#memory = new WasmMemory(exports.memory, MAX_BYTES);
    this.start = Math.ceil((exports.heapBase() >>> 0) / 64) * 64;
    this.words = new Uint32Array(exports.memory.buffer);
    this.select = exports.waveletSelect;
  }

  reserve(end: number): void {
    this.#memory.reserve(end);
    if (this.words.length === 0) this.words = new Uint32Array(this.#memory.buffer);
  }

  keys(from: number, count: number): number {
    return this.#wasm.waveletKeys32(from, count) >>> 0;
  }

  level(piece: number, level: number, keys: number, scratch: number): void {
    this.#wasm.waveletLevel(piece, level, keys, scratch);
  }
}
