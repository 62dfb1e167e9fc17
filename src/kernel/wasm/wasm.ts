import type { Column, Kernel, KernelName, Piece, RankTable, Scan, Source, Wavelet, Windows } from "../contract.ts";
import { kernelOf } from "../passes/kernel-of.ts";
import type { Block, Census, Collected, Narrowed, Passes, Stream } from "../passes/passes.ts";
import { blockOf } from "./wasm-block.ts";
import { again, type WasmExports } from "./wasm-exports.ts";
import { WasmMemory } from "./wasm-memory.ts";
import { rollInMemory } from "./wasm-rolling.ts";
import { startsInMemory } from "./wasm-starts.ts";
import { type Held, wasmStream } from "./wasm-stream.ts";
import { WasmWavelet } from "./wasm-wavelet.ts";

// Layout from heapBase, rounded up to 64:   0 control (256 bytes) · 256 histograms (49152) · 49472 columns
const HISTOGRAM = 256;
const COLUMNS = 256 + 49152 + 64;
/** Values per block of a fold, and blocks per call. Their records use the region of the histograms. */
const BLOCK = 4096;
const BATCH = 512;
const MAX_BYTES = 2 ** 31;

/** A kernel over an instance of assembly/index.ts. Throws TOO_LARGE if it needs more than `maxBytes` (default 2 GiB). */
export function wasmKernel(name: KernelName, exports: WasmExports, maxBytes = MAX_BYTES): Kernel {
  return kernelOf(wasmPasses(name, exports, maxBytes));
}

/** Only the loops. Benches use them to measure without the copy into memory. */
export function wasmPasses(name: KernelName, exports: WasmExports, maxBytes = MAX_BYTES): Passes<Held> {
  return new WasmPasses(name, exports, maxBytes);
}

class WasmPasses implements Passes<Held> {
  readonly name: KernelName;
  readonly #wasm: WasmExports;
  readonly #memory: WasmMemory;
  readonly #control: number;

  constructor(name: KernelName, exports: WasmExports, maxBytes: number) {
    this.name = name;
    this.#wasm = exports;
    this.#memory = new WasmMemory(exports.memory, maxBytes);
    this.#control = Math.ceil((exports.heapBase() >>> 0) / 64) * 64;
    this.#memory.reserve(this.#control + COLUMNS);
  }

  hold(values: Column): Held {
    const address = this.#control + COLUMNS;
    const held = { address, count: values.length, wide: values instanceof Float64Array };
    this.#memory.reserve(endOf(held));
    this.#view(held).set(values);
    return held;
  }

  fold({ address, count, wide }: Held, about: number, take: (block: Block) => void): number {
    const records = this.#control + HISTOGRAM;
    let mean = about;
    for (let begin = 0; begin < count; begin += BATCH * BLOCK) {
      const part = Math.min(count - begin, BATCH * BLOCK);
      mean = wide
        ? this.#wasm.fold64(address + begin * 8, part, mean, records, this.#control)
        : this.#wasm.fold32(address + begin * 4, part, mean, records, this.#control);
      const blocks = Math.ceil(part / BLOCK);
      const numbers = new Float64Array(this.#memory.buffer, records, 10 * blocks);
      const counts = new Uint32Array(this.#memory.buffer, records, 20 * blocks);
      for (let i = 0; i < blocks; i++) take(blockOf(numbers, counts, i, Math.min(BLOCK, part - i * BLOCK)));
    }
    return mean;
  }

  census({ address, count, wide }: Held): Census {
    this.#wasm[wide ? "census64" : "census32"](address, count, this.#control);
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
    return this.#wasm[wide ? "pairwiseSum64" : "pairwiseSum32"](address, count);
  }

  pairwiseSquares(held: Held, mean: number): number {
    const { address, count, wide } = held;
    this.#wasm[wide ? "deviations64" : "deviations32"](address, count, mean, address);
    return this.pairwiseSum(held);
  }

  collect(held: Held, first: number, last: number): Collected<Held> {
    const { address, count, wide } = held;
    const out = this.#second(held);
    const chosen = this.#wasm[wide ? "collect64" : "collect32"](address, count, first, last, out, this.#control) >>> 0;
    const [below, numbers] = this.#counts(2);
    return { below: below!, allNumbers: numbers === 1, count: chosen, inside: { address: out, count: chosen, wide } };
  }

  sample(held: Held, size: number, seed: number): Column {
    const { address, count, wide } = held;
    const sample = { address: this.#second(held), count: size, wide };
    this.#memory.reserve(endOf(sample));
    this.#wasm[wide ? "sample64" : "sample32"](address, count, seed, size, sample.address);
    return this.sorted(sample);
  }

  narrow({ address, count, wide }: Held, k: number, low: number, high: number): Narrowed {
    const histograms = this.#control + HISTOGRAM;
    this.#wasm[wide ? "narrow64" : "narrow32"](address, count, k, low, high, histograms, this.#control);
    const [before, found] = this.#counts(2);
    const limits = this.#view({ address: this.#control + 8, count: 4, wide });
    return { before: before!, found: found === 1, first: limits[0]!, last: limits[wide ? 1 : 2]! };
  }

  rank({ address, count, wide }: Held, limit: number): { below: number; equal: number; above: number } {
    this.#wasm[wide ? "rank64" : "rank32"](address, count, limit, this.#control);
    const [below, equal, above] = this.#counts(3);
    return { below: below!, equal: equal!, above: above! };
  }

  starts(windows: Windows, from: number, to: number, scan: Scan, out: Uint32Array): number {
    return startsInMemory(
      this.#wasm,
      this.#memory,
      this.#control,
      this.#control + COLUMNS,
      windows,
      from,
      to,
      scan,
      out,
    );
  }

  roll(piece: Piece, tables: readonly RankTable[], out: readonly Float64Array[]): void {
    const histograms = this.#control + HISTOGRAM;
    rollInMemory(this.#wasm, this.#memory, histograms, this.#control + COLUMNS, piece, tables, out);
  }

  sort(values: Column): void {
    values.set(this.sorted(this.hold(values)));
  }

  sorted(held: Held): Column {
    const scratch = this.#second(held);
    this.#wasm[held.wide ? "sort64" : "sort32"](held.address, held.count, scratch, this.#control + HISTOGRAM);
    return this.#view(held);
  }

  trim(times: BigInt64Array, values: Column, first: bigint, last: bigint): { times: BigInt64Array; values: Column } {
    const held = this.hold(values);
    const { address, count, wide } = held;
    const at = WasmMemory.after(endOf(held));
    this.#memory.reserve(at + count * 8);
    const { buffer } = this.#memory;
    new BigInt64Array(buffer, at, count).set(times);
    new BigInt64Array(buffer, this.#control, 2).set([first, last]);
    const kept = this.#wasm[wide ? "trim64" : "trim32"](at, address, count, this.#control) >>> 0;
    return {
      times: new BigInt64Array(buffer, at, kept).slice(),
      values: this.#view({ address, count: kept, wide }).slice(),
    };
  }

  /** The address of a second column, as large as the first. */
  #second(held: Held): number {
    const address = Math.max(WasmMemory.after(endOf(held)), held.free ?? 0);
    this.#memory.reserve(endOf({ ...held, address }));
    return address;
  }

  #view({ address, count, wide }: Held): Column {
    const { buffer } = this.#memory;
    return wide ? new Float64Array(buffer, address, count) : new Float32Array(buffer, address, count);
  }

  stream(source: Source, piles: number, capacity: number): Stream<Held> {
    return wasmStream(this.#wasm, this.#memory, this.#control, this.#control + COLUMNS, source, piles, capacity);
  }

  append(piece: Held, first: number, last: number, pile: Held): Collected<Held> {
    const { address, count, wide } = piece;
    const out = pile.address + pile.count * (wide ? 8 : 4);
    const chosen = this.#wasm[wide ? "collect64" : "collect32"](address, count, first, last, out, this.#control) >>> 0;
    const [below, numbers] = this.#counts(2);
    const inside = { ...pile, count: pile.count + chosen };
    return { below: below!, allNumbers: numbers === 1, count: chosen, inside };
  }

  view(held: Held): Column {
    return this.#view(held);
  }

  wavelet(): Wavelet {
    return new WasmWavelet(again(this.#wasm));
  }

  #counts(count: number): Uint32Array {
    return new Uint32Array(this.#memory.buffer, this.#control, count);
  }
}

function endOf({ address, count, wide }: Held): number {
  return address + count * (wide ? 8 : 4);
}
