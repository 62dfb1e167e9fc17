import type { Source } from "../contract.ts";
import type { Stream } from "../passes/passes.ts";
import type { WasmExports } from "./wasm-exports.ts";
import { WasmMemory } from "./wasm-memory.ts";
import type { Held } from "./wasm-runs.ts";

const BLOCK = 4096;
const PIECE_BYTES = 65_536;

/**
 * Streams the values inside through a fixed buffer, one piece at a time. A piece stays in the processor's cache while it
 * is folded and selected from, and no column larger than the cache is written.
 *
 *   | carried values, less than a block | piece of 64 KB | gap | its times, unless all are inside | gap | pile | gap | pile ...
 */
export function wasmStream(
  wasm: WasmExports,
  memory: WasmMemory,
  control: number,
  base: number,
  source: Source,
  pileCount: number,
  capacity: number,
): Stream<Held> {
  const { times, values, wide, end } = source;
  const size = wide ? 8 : 4;
  const room = PIECE_BYTES / size;
  const instants = WasmMemory.after(base + BLOCK * size + PIECE_BYTES);
  const firstPile = times === null ? instants : WasmMemory.after(instants + room * 8);
  const step = WasmMemory.after(capacity * size);
  const free = firstPile + pileCount * step;
  memory.reserve(free);
  const bytes = new Uint8Array(memory.buffer);
  const piles = Array.from({ length: pileCount }, (_, i) => ({ address: firstPile + i * step, count: 0, wide, free }));
  const bounds = new BigInt64Array(memory.buffer, control, 2);
  let position = source.begin;
  let filled = 0;
  let used = 0;
  return {
    piles,
    next() {
      do {
        if (position >= end) return null;
        bytes.copyWithin(base, base + used * size, base + filled * size);
        const at = base + (filled - used) * size;
        const to = Math.min(end, position + room);
        bytes.set(values.subarray(position * size, to * size), at);
        let kept = to - position;
        if (times !== null) {
          bytes.set(times.subarray(position * 8, to * 8), instants);
          bounds[0] = source.first;
          bounds[1] = source.last;
          kept = (wide ? wasm.mask64 : wasm.mask32)(instants, at, kept, control, at) >>> 0;
        }
        filled = filled - used + kept;
        position = to;
        used = position < end ? filled - (filled % BLOCK) : filled;
      } while (used === 0);
      return { piece: { address: base, count: used, wide }, count: used };
    },
  };
}
