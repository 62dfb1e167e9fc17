import type { Column } from "../contract.ts";
import type { Passes } from "./passes.ts";

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** The pairs inside (`from` < t <= `to`, or `from` <= t when `both`), copied in order; binary search when `sorted`. */
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
  if (first > MOST || to < LEAST || first > to) return { times: times.slice(0, 0), values: values.slice(0, 0) };
  const begin = first < LEAST ? LEAST : first;
  const end = to > MOST ? MOST : to;
  if (!sorted) return passes.trim(times, values, begin, end);
  const start = countBelow(times, begin);
  const stop = end === MOST ? times.length : countBelow(times, end + 1n);
  return { times: times.slice(start, stop), values: values.slice(start, stop) };
}

/** How many of the times, which never fall, are before `limit`. */
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
