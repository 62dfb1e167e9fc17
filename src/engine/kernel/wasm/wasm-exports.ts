import { bytesOfBase64 } from "../../../base/base64.ts";
import type { Wavelet } from "../contract.ts";
import type { LinearMemory } from "./wasm-memory.ts";

/** The exports of assembly/runs. Addresses are in bytes. Functions for f64 end in 64, those for f32 in 32. */
export interface RunExports {
  memory: LinearMemory;
  heapBase(): number;
  fold32(from: number, count: number, about: number, records: number, scratch: number): number;
  fold64(from: number, count: number, about: number, records: number, scratch: number): number;
  sort32(from: number, count: number, scratch: number, histograms: number): void;
  sort64(from: number, count: number, scratch: number, histograms: number): void;
}

/** The exports of assembly/index.ts. */
export interface WasmExports extends RunExports {
  /** 16 with vectors, 8 without. */
  vectorBytes(): number;
  mask32(times: number, values: number, count: number, bounds: number, out: number): number;
  mask64(times: number, values: number, count: number, bounds: number, out: number): number;
  census32(from: number, count: number, out: number): void;
  census64(from: number, count: number, out: number): void;
  pairwiseSum32(from: number, count: number): number;
  pairwiseSum64(from: number, count: number): number;
  deviations32(from: number, count: number, mean: number, out: number): void;
  deviations64(from: number, count: number, mean: number, out: number): void;
  collect32(from: number, count: number, first: number, last: number, out: number, tally: number): number;
  collect64(from: number, count: number, first: number, last: number, out: number, tally: number): number;
  sample32(from: number, count: number, seed: number, size: number, out: number): void;
  sample64(from: number, count: number, seed: number, size: number, out: number): void;
  narrow32(from: number, count: number, k: number, low: number, high: number, histograms: number, out: number): void;
  narrow64(from: number, count: number, k: number, low: number, high: number, histograms: number, out: number): void;
  rollingRank32(from: number, count: number, pairs: number, scratch: number, histograms: number, ranks: number): void;
  rollingRank64: WasmExports["rollingRank32"];
  rollingSlide32(
    values: number,
    ranks: number,
    order: number,
    warm: number,
    count: number,
    starts: number,
    base: number,
    lower: number,
    weight: number,
    minCount: number,
    bits: number,
    out: number,
  ): void;
  rollingSlide64: WasmExports["rollingSlide32"];
  startsF64(
    lead: number,
    count: number,
    from: number,
    trail: number,
    trailed: number,
    spanMs: number,
    both: boolean,
    out: number,
    tally: number,
  ): void;
  startsI64: WasmExports["startsF64"];
  rank32(from: number, count: number, limit: number, out: number): void;
  rank64(from: number, count: number, limit: number, out: number): void;
  trim32(times: number, values: number, count: number, bounds: number): number;
  trim64(times: number, values: number, count: number, bounds: number): number;
  waveletKeys32(from: number, count: number): number;
  waveletLevel(piece: number, level: number, keys: number, scratch: number): void;
  waveletSelect: Wavelet["select"];
}

type ModuleClass = new (bytes: Uint8Array | ArrayBuffer) => object;

/** TypeScript declares WebAssembly only in its DOM library. */
declare const WebAssembly: {
  Module: ModuleClass;
  Instance: new (module: object) => { exports: unknown };
  compile(bytes: Uint8Array | ArrayBuffer): Promise<object>;
};

/** Starts a kernel module synchronously, and compiles it if it is bytes. Throws the runtime's error if that fails. */
export function instantiate(source: object): WasmExports {
  const module = isBytes(source) ? new WebAssembly.Module(source) : source;
  const exports = new WebAssembly.Instance(module).exports as WasmExports;
  modules.set(exports, module);
  return exports;
}

const modules = new WeakMap<WasmExports, object>();

/** Another instance of the same module, with a memory of its own. */
export function again(exports: WasmExports): WasmExports {
  return instantiate(modules.get(exports)!);
}

/** Compiles bytes asynchronously. A browser's main thread limits the size of modules compiled synchronously. */
export function compile(bytes: Uint8Array | ArrayBuffer): Promise<object> {
  return WebAssembly.compile(bytes);
}

export function isBytes(source: object): source is Uint8Array | ArrayBuffer {
  return ArrayBuffer.isView(source) || Object.prototype.toString.call(source) === "[object ArrayBuffer]";
}

/** Decodes the bytes of a module. Uses Buffer if the runtime has it, because it is faster. */
export function bytesOf(base64: string): Uint8Array {
  return typeof Buffer !== "undefined" ? Buffer.from(base64, "base64") : bytesOfBase64(base64);
}
