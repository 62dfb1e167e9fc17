import type { Column } from "../../kernel/contract.ts";

/** Index of the first value from `from` to before `to` that is not below `limit`; `to` if there is none. */
export function lowerBound(sorted: Column, limit: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first value from `from` to before `to` that is above `limit`; `to` if there is none. */
export function upperBound(sorted: Column, limit: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
