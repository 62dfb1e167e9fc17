import { bytesOfBase64 } from "../../base64.ts";
import type { LinearMemory } from "./wasm-memory.ts";

/** What assembly/index.ts exports. Addresses are bytes; `wide` twins end in 64. */
export interface WasmExports {
  memory: LinearMemory;
  heapBase(): number;
  /** 16 with vectors, 8 without. */
  vectorBytes(): number;
  fold32(from: number, count: number, about: number, records: number, scratch: number): number;
  fold64(from: number, count: number, about: number, records: number, scratch: number): number;
  mask32(times: number, values: number, count: number, bounds: number, out: number): number;
  mask64(times: number, values: number, count: number, bounds: number, out: number): number;
  census32(from: number, count: number, out: number): void;
  census64(from: number, count: number, out: number): void;
  pairwiseSum32(from: number, count: number): number;
  pairwiseSum64(from: number, count: number): number;
  deviations32(from: number, count: number, mean: number, out: number): void;
  deviations64(from: number, count: number, mean: number, out: number): void;
  sort32(from: number, count: number, scratch: number, histograms: number): void;
  sort64(from: number, count: number, scratch: number, histograms: number): void;
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
    least: number,
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
}

type ModuleClass = new (bytes: Uint8Array | ArrayBuffer) => object;

/** TypeScript's own declaration comes with the DOM only. */
declare const WebAssembly: {
  Module: ModuleClass;
  Instance: new (module: object) => { exports: unknown };
  compile(bytes: Uint8Array | ArrayBuffer): Promise<object>;
};

/** Starts a kernel module, compiled first if it is bytes, in this turn; throws what the runtime throws where it may not or cannot. */
export function instantiate(source: object): WasmExports {
  const module = isBytes(source) ? new WebAssembly.Module(source) : source;
  return new WebAssembly.Instance(module).exports as WasmExports;
}

/** The same elsewhere than in this turn, which is for large modules of a browser's main thread; and it streams nothing. */
export function compile(bytes: Uint8Array | ArrayBuffer): Promise<object> {
  return WebAssembly.compile(bytes);
}

export function isBytes(source: object): source is Uint8Array | ArrayBuffer {
  return ArrayBuffer.isView(source) || Object.prototype.toString.call(source) === "[object ArrayBuffer]";
}

/** The bytes of a module as text; Buffer where there is one, it is quicker. */
export function bytesOf(base64: string): Uint8Array {
  return typeof Buffer !== "undefined" ? Buffer.from(base64, "base64") : bytesOfBase64(base64);
}
