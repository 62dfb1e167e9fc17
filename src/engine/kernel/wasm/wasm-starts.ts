import type { Scan, Windows } from "../contract.ts";
import type { WasmExports } from "./wasm-exports.ts";
import { WasmMemory } from "./wasm-memory.ts";

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
