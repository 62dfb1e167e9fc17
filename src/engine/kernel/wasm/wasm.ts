import type { Column, Kernel, KernelName, Piece, RankTable, Scan, Source, Wavelet, Windows } from "../contract.ts";
import { kernelOf } from "../passes/kernel-of.ts";
import type { Census, Collected, Narrowed, Passes, Stream } from "../passes/passes.ts";
import { again, type WasmExports } from "./wasm-exports.ts";
import { WasmMemory } from "./wasm-memory.ts";
import { rollInMemory, startsInMemory } from "./wasm-rolling.ts";
import { COLUMNS, endOf, type Held, HISTOGRAM, MAX_BYTES, WasmRuns } from "./wasm-runs.ts";
import { wasmStream } from "./wasm-stream.ts";

/** A kernel over an instance of assembly/index.ts. Throws TOO_LARGE if it needs more than `maxBytes` (default 2 GiB). */
export function wasmKernel(name: KernelName, exports: WasmExports, maxBytes = MAX_BYTES): Kernel {
  return kernelOf(wasmPasses(name, exports, maxBytes));
}

/** Only the loops. Benches use them to measure without the copy into memory. */
export function wasmPasses(name: KernelName, exports: WasmExports, maxBytes = MAX_BYTES): Passes<Held> {
  return new WasmPasses(name, exports, maxBytes);
}

class WasmPasses extends WasmRuns<WasmExports> implements Passes<Held> {
  readonly name: KernelName;
  constructor(name: KernelName, exports: WasmExports, maxBytes: number) {
    super(exports, maxBytes);
    this.name = name;
  }

  census({ address, count, wide }: Held): Census {
    this.wasm[wide ? "census64" : "census32"](address, count, this.control);
    const [nan, positiveInfinity, negativeInfinity, negativeZero, positiveZero] = this.#counts(5);
    return {
      nan: nan!,
      positiveInfinity: positiveInfinity!,
      negativeInfinity: negativeInfinity!,
      negativeZero: negativeZero!,
      positiveZero: positiveZero!,
    };
  }

  pairwiseSum({ address, count, wide }: Held): number {
    return this.wasm[wide ? "pairwiseSum64" : "pairwiseSum32"](address, count);
  }

  pairwiseSquares(held: Held, mean: number): number {
    const { address, count, wide } = held;
    this.wasm[wide ? "deviations64" : "deviations32"](address, count, mean, address);
    return this.pairwiseSum(held);
  }

  collect(held: Held, first: number, last: number): Collected<Held> {
    const { address, count, wide } = held;
    const out = this.second(held);
    const chosen = this.wasm[wide ? "collect64" : "collect32"](address, count, first, last, out, this.control) >>> 0;
    const [below, numbers] = this.#counts(2);
    return { below: below!, allNumbers: numbers === 1, count: chosen, inside: { address: out, count: chosen, wide } };
  }

  sample(held: Held, size: number, seed: number): Column {
    const { address, count, wide } = held;
    const sample = { address: this.second(held), count: size, wide };
    this.memory.reserve(endOf(sample));
    this.wasm[wide ? "sample64" : "sample32"](address, count, seed, size, sample.address);
    return this.sorted(sample);
  }

  narrow({ address, count, wide }: Held, k: number, low: number, high: number): Narrowed {
    const histograms = this.control + HISTOGRAM;
    this.wasm[wide ? "narrow64" : "narrow32"](address, count, k, low, high, histograms, this.control);
    const [before, found] = this.#counts(2);
    const limits = this.view({ address: this.control + 8, count: 4, wide });
    return { before: before!, found: found === 1, first: limits[0]!, last: limits[wide ? 1 : 2]! };
  }

  rank({ address, count, wide }: Held, limit: number): { below: number; equal: number; above: number } {
    this.wasm[wide ? "rank64" : "rank32"](address, count, limit, this.control);
    const [below, equal, above] = this.#counts(3);
    return { below: below!, equal: equal!, above: above! };
  }

  starts(windows: Windows, from: number, to: number, scan: Scan, out: Uint32Array): number {
    return startsInMemory(this.wasm, this.memory, this.control, this.control + COLUMNS, windows, from, to, scan, out);
  }

  roll(piece: Piece, tables: readonly RankTable[], out: readonly Float64Array[]): void {
    const histograms = this.control + HISTOGRAM;
    rollInMemory(this.wasm, this.memory, histograms, this.control + COLUMNS, piece, tables, out);
  }

  trim(times: BigInt64Array, values: Column, first: bigint, last: bigint): { times: BigInt64Array; values: Column } {
    const held = this.hold(values);
    const { address, count, wide } = held;
    const at = WasmMemory.after(endOf(held));
    this.memory.reserve(at + count * 8);
    const { buffer } = this.memory;
    new BigInt64Array(buffer, at, count).set(times);
    new BigInt64Array(buffer, this.control, 2).set([first, last]);
    const kept = this.wasm[wide ? "trim64" : "trim32"](at, address, count, this.control) >>> 0;
    return {
      times: new BigInt64Array(buffer, at, kept).slice(),
      values: this.view({ address, count: kept, wide }).slice(),
    };
  }

  stream(source: Source, piles: number, capacity: number): Stream<Held> {
    return wasmStream(this.wasm, this.memory, this.control, this.control + COLUMNS, source, piles, capacity);
  }

  append(piece: Held, first: number, last: number, pile: Held): Collected<Held> {
    const { address, count, wide } = piece;
    const out = pile.address + pile.count * (wide ? 8 : 4);
    const chosen = this.wasm[wide ? "collect64" : "collect32"](address, count, first, last, out, this.control) >>> 0;
    const [below, numbers] = this.#counts(2);
    const inside = { ...pile, count: pile.count + chosen };
    return { below: below!, allNumbers: numbers === 1, count: chosen, inside };
  }

  wavelet(): Wavelet {
    return new WasmWavelet(again(this.wasm));
  }

  #counts(count: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, this.control, count);
  }
}

/** Wavelet matrices in the memory of an instance that nothing else uses. It is freed with this object. */
class WasmWavelet implements Wavelet {
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
