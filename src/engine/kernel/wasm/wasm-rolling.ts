import type { Piece, RankTable, Scan, Windows } from "../contract.ts";
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

/**
 * Scans windows in pieces of their times. The regions from `at` are 64-byte aligned, with gaps: lead (times of the
 * events, and the time before them) | trail (times from the last window's first event) | starts (4 bytes per event).
 */
export function startsInMemory(
  wasm: WasmExports,
  memory: WasmMemory,
  control: number,
  at: number,
  { times, spanMs, both }: Windows,
  from: number,
  to: number,
  scan: Scan,
  out: Uint32Array,
): number {
  const begin = Math.max(from - 1, 0);
  const count = to - begin;
  const trail = WasmMemory.after(at + count * 8);
  const starts = WasmMemory.after(trail + count * 8);
  memory.reserve(starts + count * 4);
  const { buffer } = memory;
  const tally = new Uint32Array(buffer, control, 4);
  tally.set([from - begin, scan.start, scan.fewest, scan.most]);
  copy(buffer, at, times, begin, to);
  const call = times instanceof Float64Array ? wasm.startsF64 : wasm.startsI64;
  for (let end = 0; end < to && end <= tally[1]!; ) {
    const start = tally[1]!;
    end = Math.min(to, start + count);
    copy(buffer, trail, times, start, end);
    call(at, count, begin, trail, end - start, spanMs, both, starts, control);
  }
  const [done, start, fewest, most] = tally;
  Object.assign(scan, { start, fewest, most });
  out.set(new Uint32Array(buffer, starts + (from - begin) * 4, to - from));
  return begin + done!;
}

function copy(buffer: ArrayBuffer, at: number, times: Windows["times"], from: number, to: number): void {
  if (times instanceof Float64Array) new Float64Array(buffer, at, to - from).set(times.subarray(from, to));
  else new BigInt64Array(buffer, at, to - from).set(times.subarray(from, to));
}
