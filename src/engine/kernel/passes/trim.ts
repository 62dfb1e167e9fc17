import type { Column } from "../contract.ts";
import type { Passes } from "./passes.ts";

const MIN_I64 = -(2n ** 63n);
const MAX_I64 = 2n ** 63n - 1n;

/** Copies the pairs inside (`from` < t <= `to`; with `both`, `from` <= t), in order. Binary search if `sorted`. */
export function trimTo<H>(
  passes: Passes<H>,
  times: BigInt64Array,
  values: Column,
  from: bigint,
  to: bigint,
  both: boolean,
  sorted: boolean,
): { times: BigInt64Array; values: Column } {
  const first = both ? from : from + 1n;
  if (first > MAX_I64 || to < MIN_I64 || first > to) return { times: times.slice(0, 0), values: values.slice(0, 0) };
  const begin = first < MIN_I64 ? MIN_I64 : first;
  const end = to > MAX_I64 ? MAX_I64 : to;
  if (!sorted) return passes.trim(times, values, begin, end);
  const start = countBelow(times, begin);
  const stop = end === MAX_I64 ? times.length : countBelow(times, end + 1n);
  return { times: times.slice(start, stop), values: values.slice(start, stop) };
}

/** Count of the times before `limit`. The times never decrease. */
function countBelow(times: BigInt64Array, limit: bigint): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
