import type { Column, Source } from "./contract.ts";

/** Functions that read value `i`, and whether time `i` is inside. The bytes may be at any address. */
export function readersOf(source: Source): { valueAt(i: number): number; isInside(i: number): boolean } {
  const { times, wide } = source;
  const values = viewOf(source.values);
  const valueAt = wide ? (i: number) => values.getFloat64(8 * i, true) : (i: number) => values.getFloat32(4 * i, true);
  if (times === null) return { valueAt, isInside: () => true };
  const view = viewOf(times);
  const isTimeInside = windowOf(source);
  return { valueAt, isInside: (i) => isTimeInside(view.getInt32(8 * i + 4, true), view.getUint32(8 * i, true)) };
}

/**
 * The values at these indexes, counted from `begin`, whose times are inside the window. The loops only read, because the
 * processor then waits for many distant addresses at once.
 */
export function valuesInside(source: Source, places: Uint32Array): Column {
  const { times, wide, begin } = source;
  const bytes = viewOf(source.values);
  const all = wide ? new Float64Array(places.length) : new Float32Array(places.length);
  if (wide) for (let i = 0; i < places.length; i++) all[i] = bytes.getFloat64(8 * (begin + places[i]!), true);
  else for (let i = 0; i < places.length; i++) all[i] = bytes.getFloat32(4 * (begin + places[i]!), true);
  if (times === null) return all;
  const instants = viewOf(times);
  const lows = new Uint32Array(places.length);
  const highs = new Int32Array(places.length);
  for (let i = 0; i < places.length; i++) {
    lows[i] = instants.getUint32(8 * (begin + places[i]!), true);
    highs[i] = instants.getInt32(8 * (begin + places[i]!) + 4, true);
  }
  const isInside = windowOf(source);
  return all.filter((_, i) => isInside(highs[i]!, lows[i]!));
}

/** A function that checks a time, passed as its signed upper and its unsigned lower 32 bits. */
function windowOf({ first, last }: Source): (high: number, low: number) => boolean {
  const [firstHigh, firstLow] = halves(first);
  const [spanHigh, spanLow] = halves(last - first);
  return (upper, low) => {
    const high = (upper - firstHigh - (low < firstLow ? 1 : 0)) >>> 0;
    return high < spanHigh >>> 0 || (high === spanHigh >>> 0 && (low - firstLow) >>> 0 <= spanLow);
  };
}

/** The signed upper and the unsigned lower 32 bits. */
export function halves(x: bigint): [number, number] {
  return [Number(BigInt.asIntN(32, x >> 32n)), Number(x & 0xffffffffn)];
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes of the values as a column; null if they are not aligned. */
export function columnOver({ values, wide }: Source): Column | null {
  const size = wide ? 8 : 4;
  if (values.byteOffset % size !== 0) return null;
  return wide
    ? new Float64Array(values.buffer, values.byteOffset, values.byteLength / 8)
    : new Float32Array(values.buffer, values.byteOffset, values.byteLength / 4);
}
