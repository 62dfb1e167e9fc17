import type { Column } from "../contract.ts";
import { BLOCK, widen } from "./widen.ts";

/** The JavaScript form of assembly/selection/rank.ts. */
export function rank(values: Column, limit: number): { below: number; equal: number; above: number } {
  let below = 0;
  let equal = 0;
  let above = 0;
  for (let begin = 0; begin < values.length; begin += BLOCK) {
    const block = widen(values, begin, Math.min(begin + BLOCK, values.length));
    for (let i = 0; i < block.length; i++) {
      const x = block[i]!;
      if (x < limit) below++;
      else if (x > limit) above++;
      else if (x === limit) equal++;
    }
  }
  return { below, equal, above };
}
