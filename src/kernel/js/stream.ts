import type { Stream } from "../passes.ts";
import { columnOver, halves } from "../readers.ts";
import type { Column } from "../contract.ts";
import type { Source } from "../source.ts";

const BLOCK = 4096;
const PIECE = 4 * BLOCK;

/** The JS form of `stream`: where all times are inside and the values aligned, the pieces are views. */
export function stream(source: Source, piles: number, capacity: number): Stream<Column> {
  const Type = source.wide ? Float64Array : Float32Array;
  const column = columnOver(source) ?? new Type(source.values.slice().buffer);
  const pilesOf = Array.from({ length: piles }, () => new Type(new ArrayBuffer(capacity * (source.wide ? 8 : 4)), 0, 0));
  let position = source.begin;
  if (source.times === null)
    return {
      piles: pilesOf,
      next() {
        if (position >= source.end) return null;
        const from = position;
        position = Math.min(source.end, position + PIECE);
        return { piece: column.subarray(from, position), count: position - from };
      },
    };
  const mask = maskOf(source);
  const scratch = new Type(BLOCK + PIECE);
  let filled = 0;
  let used = 0;
  return {
    piles: pilesOf,
    next() {
      do {
        if (position >= source.end) return null;
        scratch.copyWithin(0, used, filled);
        const to = Math.min(source.end, position + PIECE);
        filled = mask(column, position, to, scratch, filled - used);
        position = to;
        used = position < source.end ? filled - (filled % BLOCK) : filled;
      } while (used === 0);
      return { piece: scratch.subarray(0, used), count: used };
    },
  };
}

type Mask = (values: Column, begin: number, end: number, out: Column, at: number) => number;

/** Copies the values whose time is inside to `out` from `at` on, and answers the place after them. No branch, no BigInt. */
function maskOf({ times, first, last }: Source): Mask {
  const bytes = times!.byteOffset % 4 === 0 ? times! : times!.slice();
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const [high, low] = halves(first);
  const [spanHigh, spanLow] = halves(last - first).map((x) => x >>> 0) as [number, number];
  return (values, begin, end, out, at) => {
    let to = at;
    for (let i = begin; i < end; i++) {
      const l = words[2 * i]!;
      const above = (words[2 * i + 1]! - high - +(l < low)) >>> 0;
      out[to] = values[i]!;
      if (above < spanHigh || (above === spanHigh && (l - low) >>> 0 <= spanLow)) to++;
    }
    return to;
  };
}
