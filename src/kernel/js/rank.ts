import type { Column } from "../contract.ts";

/** The JS form of assembly/rank.ts. */
export function rank(values: Column, limit: number): { below: number; equal: number; above: number } {
  let below = 0;
  let equal = 0;
  let above = 0;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x < limit) below++;
    else if (x > limit) above++;
    else if (x === limit) equal++;
  }
  return { below, equal, above };
}
