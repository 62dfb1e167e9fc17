import type { Column } from "../contract.ts";

const f64 = new Float64Array(1);
const i64 = new BigInt64Array(f64.buffer);
const f32 = new Float32Array(1);
const i32 = new Int32Array(f32.buffer);

/** The smallest number of the column's type above x; +Infinity for +Infinity. */
export function numberAbove(values: Column, x: number): number {
  if (x === Number.POSITIVE_INFINITY) return x;
  // Adding 0 turns -0 into +0. The bits of positive numbers increase with the number; those of negative ones decrease.
  if (values instanceof Float32Array) {
    f32[0] = x + 0;
    i32[0]! += x >= 0 ? 1 : -1;
    return f32[0]!;
  }
  f64[0] = x + 0;
  i64[0]! += x >= 0 ? 1n : -1n;
  return f64[0]!;
}

/** The largest number of the column's type below x; -Infinity for -Infinity. */
export function numberBelow(values: Column, x: number): number {
  return -numberAbove(values, -x);
}
