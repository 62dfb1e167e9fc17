import type { Column } from "../contract.ts";

/** Values per block of a loop. A block of f64 stays in the first-level cache. */
export const BLOCK = 4096;

const wide = new Float64Array(BLOCK);

/**
 * At most `BLOCK` values as f64, valid until the next call. With it, the loops over values read one array type only. A
 * loop that has read both f32 and f64 arrays is several times slower in V8, which then checks the type for each value.
 */
export function widen(values: Column, begin: number, end: number): Float64Array {
  return values instanceof Float64Array ? values.subarray(begin, end) : widened(values, begin, end);
}

function widened(values: Float32Array, begin: number, end: number): Float64Array {
  for (let i = begin; i < end; i++) wide[i - begin] = values[i]!;
  return wide.subarray(0, end - begin);
}
