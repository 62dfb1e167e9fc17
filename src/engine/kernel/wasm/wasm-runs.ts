import type { Column, KernelName, RunKernel } from "../contract.ts";
import { summarize } from "../passes/merge.ts";
import type { Block, Passes } from "../passes/passes.ts";
import type { RunExports } from "./wasm-exports.ts";
import { WasmMemory } from "./wasm-memory.ts";

/** A column in linear memory: `count` values from byte `address`. */
export interface Held {
  address: number;
  count: number;
  wide: boolean;
  /** First free byte after the column. Default: the end of the column. */
  free?: number;
}

// Layout from heapBase, rounded up to 64:   0 control (256 bytes) · 256 histograms (49152) · 49472 columns
export const HISTOGRAM = 256;
export const COLUMNS = 256 + 49152 + 64;
/** Values per block of a fold, and blocks per call. Their records use the region of the histograms. */
const BLOCK = 4096;
const BATCH = 512;
export const MAX_BYTES = 2 ** 31;

/** A kernel over an instance of assembly/runs. Throws TOO_LARGE if it needs more than 2 GiB. */
export function wasmRuns(name: KernelName, exports: RunExports): RunKernel {
  const passes = new WasmRuns(exports, MAX_BYTES);
  return { name, summary: (values) => summarize(passes, values), sort: (values) => passes.sort(values) };
}

/** The loops over a column that the small module has too. */
export class WasmRuns<Exports extends RunExports = RunExports>
  implements Pick<Passes<Held>, "hold" | "fold" | "sort" | "sorted">
{
  protected readonly wasm: Exports;
  protected readonly memory: WasmMemory;
  protected readonly control: number;

  constructor(exports: Exports, maxBytes: number) {
    this.wasm = exports;
    this.memory = new WasmMemory(exports.memory, maxBytes);
    this.control = Math.ceil((exports.heapBase() >>> 0) / 64) * 64;
    this.memory.reserve(this.control + COLUMNS);
  }

  hold(values: Column): Held {
    const address = this.control + COLUMNS;
    const held = { address, count: values.length, wide: values instanceof Float64Array };
    this.memory.reserve(endOf(held));
    this.view(held).set(values);
    return held;
  }

  fold({ address, count, wide }: Held, about: number, take: (block: Block) => void): number {
    const records = this.control + HISTOGRAM;
    let mean = about;
    for (let begin = 0; begin < count; begin += BATCH * BLOCK) {
      const part = Math.min(count - begin, BATCH * BLOCK);
      mean = wide
        ? this.wasm.fold64(address + begin * 8, part, mean, records, this.control)
        : this.wasm.fold32(address + begin * 4, part, mean, records, this.control);
      const blocks = Math.ceil(part / BLOCK);
      const numbers = new Float64Array(this.memory.buffer, records, 10 * blocks);
      const counts = new Uint32Array(this.memory.buffer, records, 20 * blocks);
      for (let i = 0; i < blocks; i++) take(blockOf(numbers, counts, i, Math.min(BLOCK, part - i * BLOCK)));
    }
    return mean;
  }

  sort(values: Column): void {
    values.set(this.sorted(this.hold(values)));
  }

  sorted(held: Held): Column {
    const scratch = this.second(held);
    this.wasm[held.wide ? "sort64" : "sort32"](held.address, held.count, scratch, this.control + HISTOGRAM);
    return this.view(held);
  }

  view({ address, count, wide }: Held): Column {
    const { buffer } = this.memory;
    return wide ? new Float64Array(buffer, address, count) : new Float32Array(buffer, address, count);
  }

  /** The address of a second column, as large as the first. */
  protected second(held: Held): number {
    const address = Math.max(WasmMemory.after(endOf(held)), held.free ?? 0);
    this.memory.reserve(endOf({ ...held, address }));
    return address;
  }
}

export function endOf({ address, count, wide }: Held): number {
  return address + count * (wide ? 8 : 4);
}

/** Decodes record `i` of assembly/sums/fold.ts: 10 numbers, the last four of which hold counts. */
function blockOf(numbers: Float64Array, counts: Uint32Array, i: number, count: number): Block {
  const at = 10 * i;
  const nan = counts[2 * at + 12]!;
  const positiveInfinity = counts[2 * at + 13]!;
  const negativeInfinity = counts[2 * at + 14]!;
  const negativeZero = counts[2 * at + 15]!;
  const positiveZero = counts[2 * at + 16]!;
  const plain = (nan | positiveInfinity | negativeInfinity | negativeZero | positiveZero) === 0;
  return {
    count,
    sumHigh: numbers[at]!,
    sumLow: numbers[at + 1]!,
    squares: numbers[at + 2]!,
    about: numbers[at + 3]!,
    min: numbers[at + 4]!,
    max: numbers[at + 5]!,
    census: plain ? undefined : { nan, positiveInfinity, negativeInfinity, negativeZero, positiveZero },
  };
}
