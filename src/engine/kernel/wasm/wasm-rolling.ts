import type { Piece, RankTable } from "../contract.ts";
import type { WasmExports } from "./wasm-exports.ts";
import { WasmMemory } from "./wasm-memory.ts";

/** Number of u64 in the three levels of assembly/rolling/rolling-bits.ts. */
function bitWords(limit: number): number {
  const level0 = Math.floor(limit / 64) + 2;
  const level1 = Math.floor(level0 / 64) + 2;
  return 1 + level0 + level1 + Math.floor(level1 / 64) + 2;
}

/**
 * Ranks a piece and slides over it, once per percentile. The regions from `from` are 64-byte aligned, with gaps:
 * values | pairs (8 bytes per value) | scratch (8) | ranks (4) | starts (4 per answer) | lower (4) | weight (8) | bits.
 * After the ranking, pairs contain the order, and scratch receives the answers.
 */
export function rollInMemory(
  wasm: WasmExports,
  memory: WasmMemory,
  histograms: number,
  from: number,
  { values, base, starts, minCount }: Piece,
  tables: readonly RankTable[],
  out: readonly Float64Array[],
): void {
  const wide = values instanceof Float64Array;
  const count = values.length;
  const rows = tables[0]?.lower.length ?? 0;
  const pairs = WasmMemory.after(from + values.byteLength);
  const scratch = WasmMemory.after(pairs + count * 8);
  const ranks = WasmMemory.after(scratch + count * 8);
  const startsAt = WasmMemory.after(ranks + count * 4);
  const lower = WasmMemory.after(startsAt + starts.byteLength);
  const weight = WasmMemory.after(lower + rows * 4);
  const bits = WasmMemory.after(weight + rows * 8);
  memory.reserve(bits + bitWords(count) * 8);
  const { buffer } = memory;
  (wide ? new Float64Array(buffer, from, count) : new Float32Array(buffer, from, count)).set(values);
  new Uint32Array(buffer, startsAt, starts.length).set(starts);
  wasm[wide ? "rollingRank64" : "rollingRank32"](from, count, pairs, scratch, histograms, ranks);
  const slide = wasm[wide ? "rollingSlide64" : "rollingSlide32"];
  for (const [i, table] of tables.entries()) {
    new Uint32Array(buffer, lower, rows).set(table.lower);
    new Float64Array(buffer, weight, rows).set(table.weight);
    slide(from, ranks, pairs, count - starts.length, count, startsAt, base, lower, weight, minCount, bits, scratch);
    out[i]!.set(new Float64Array(buffer, scratch, starts.length));
  }
}
