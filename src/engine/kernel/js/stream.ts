import type { Column, Source } from "../contract.ts";
import type { Stream } from "../passes/passes.ts";
import { columnOver } from "../readers.ts";
import { maskOf } from "./mask.ts";

const BLOCK = 4096;
const PIECE = 4 * BLOCK;

/** The JavaScript form of `stream`. If all times are inside and the values are aligned, the pieces are views. */
export function stream(source: Source, piles: number, capacity: number): Stream<Column> {
  const Type = source.wide ? Float64Array : Float32Array;
  const pilesOf = Array.from(
    { length: piles },
    () => new Type(new ArrayBuffer(capacity * (source.wide ? 8 : 4)), 0, 0),
  );
  let position = source.begin;
  if (source.times === null) {
    const column = columnOver(source) ?? new Type(source.values.slice().buffer);
    return {
      piles: pilesOf,
      next() {
        if (position >= source.end) return null;
        const from = position;
        position = Math.min(source.end, position + PIECE);
        return { piece: column.subarray(from, position), count: position - from };
      },
    };
  }
  const mask = maskOf(source, source.times);
  const scratch = new Type(BLOCK + PIECE);
  const scratchWords = new Int32Array(scratch.buffer);
  let filled = 0;
  let used = 0;
  return {
    piles: pilesOf,
    next() {
      do {
        if (position >= source.end) return null;
        scratch.copyWithin(0, used, filled);
        const to = Math.min(source.end, position + PIECE);
        filled = mask(position, to, scratchWords, filled - used);
        position = to;
        used = position < source.end ? filled - (filled % BLOCK) : filled;
      } while (used === 0);
      return { piece: scratch.subarray(0, used), count: used };
    },
  };
}
