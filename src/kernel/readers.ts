import type { Column, Source } from "./contract.ts";

/** A reader of value `i`, and of whether time `i` is inside; at any address. */
export function readersOf(source: Source): { valueAt(i: number): number; isInside(i: number): boolean } {
  const { times, wide } = source;
  const values = viewOf(source.values);
  const valueAt = wide ? (i: number) => values.getFloat64(8 * i, true) : (i: number) => values.getFloat32(4 * i, true);
  if (times === null) return { valueAt, isInside: () => true };
  const view = viewOf(times);
  const [firstHigh, firstLow] = halves(source.first);
  const [spanHigh, spanLow] = halves(source.last - source.first);
  return {
    valueAt,
    isInside(i) {
      const low = view.getUint32(8 * i, true);
      const high = (view.getInt32(8 * i + 4, true) - firstHigh - (low < firstLow ? 1 : 0)) >>> 0;
      return high < spanHigh >>> 0 || (high === spanHigh >>> 0 && (low - firstLow) >>> 0 <= spanLow);
    },
  };
}

/** The signed upper and the unsigned lower 32 bits. */
export function halves(x: bigint): [number, number] {
  return [Number(BigInt.asIntN(32, x >> 32n)), Number(x & 0xffffffffn)];
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The values of bytes as a column; null where they do not lie at a multiple of their size. */
export function columnOver({ values, wide }: Source): Column | null {
  const size = wide ? 8 : 4;
  if (values.byteOffset % size !== 0) return null;
  return wide
    ? new Float64Array(values.buffer, values.byteOffset, values.byteLength / 8)
    : new Float32Array(values.buffer, values.byteOffset, values.byteLength / 4);
}
