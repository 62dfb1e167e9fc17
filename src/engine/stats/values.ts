import { argumentError } from "../../base/errors.ts";
import { isDate, ownView } from "../../base/realm.ts";
import { type Closed, instantMs } from "../../base/time.ts";
import { checkAttached } from "../kernel/column.ts";
import type { Column } from "../kernel/contract.ts";
import { checkValue, type NanPolicy } from "../kernel/nan.ts";
import { newColumn, type Segment } from "./segments/segment.ts";

/** Maximum number of values in one call, 2^28. */
const MAX_VALUES = 268_435_456;

/** Checks the values and copies them to a column of the series' type. */
export function columnOf(values: ArrayLike<number>, valueType: number, nan: NanPolicy): Column {
  const length = values !== null && typeof values === "object" ? values.length : Number.NaN;
  if (!Number.isSafeInteger(length) || length < 0 || length > MAX_VALUES)
    throw argumentError("values", values, `an array or typed array of at most ${MAX_VALUES} numbers`);
  checkAttached("values", values);
  const column = newColumn(valueType, values.length);
  for (let i = 0; i < column.length; i++) {
    const value = values[i];
    if (typeof value !== "number") throw argumentError(`values[${i}]`, value, "a number");
    column[i] = value;
    if (nan === "reject" && !Number.isFinite(column[i])) checkValue(value, valueType, nan, `values[${i}]`);
  }
  return column;
}

/** Like `columnOf`, but returns a column that already has the right type without a copy. */
export function checkedColumn(given: ArrayLike<number>, valueType: number, nan: NanPolicy): Column {
  checkAttached("values", given);
  const values = ownView(given);
  const isColumn = valueType & 1 ? values instanceof Float64Array : values instanceof Float32Array;
  if (!isColumn || values.length > MAX_VALUES) return columnOf(values, valueType, nan);
  const column = values as Column;
  if (nan === "reject")
    for (let i = 0; i < column.length; i++)
      // True for infinities and NaN only.
      if (column[i]! - column[i]! !== 0) checkValue(column[i]!, valueType, nan, `values[${i}]`);
  return column;
}

/** Returns one time per event in whole ms. A single instant applies to all events. */
export function timesOf(at: number | Date | ArrayLike<number>, count: number): Float64Array {
  if (typeof at === "number" || isDate(at)) return new Float64Array(count).fill(instantMs("at", at));
  if (at === null || typeof at !== "object" || at.length !== count)
    throw argumentError("at", at, `an instant, or one per value, ${count} in all`);
  return Float64Array.from(at, (t, i) => instantMs(`at[${i}]`, t));
}

/** Copies the values inside a window, in arrival order. */
export function valuesInside(
  segments: readonly Segment[],
  valueType: number,
  fromMs: number,
  toMs: number,
  closed: Closed,
): Column {
  const total = segments.reduce((sum, { count }) => sum + count, 0);
  const all = newColumn(valueType, total);
  let at = 0;
  for (const segment of segments) at = segment.copyInside(all, at, fromMs, toMs, closed);
  return all.slice(0, at);
}
