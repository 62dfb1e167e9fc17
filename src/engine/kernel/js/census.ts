import type { Column } from "../contract.ts";
import type { Census } from "../passes/passes.ts";

/** The JavaScript form of assembly/selection/census.ts. */
export function census(values: Column): Census {
  let nan = 0;
  let positiveInfinity = 0;
  let negativeInfinity = 0;
  let negativeZero = 0;
  let positiveZero = 0;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x === 0) {
      if (1 / x > 0) positiveZero++;
      else negativeZero++;
    } else if (x - x !== 0) {
      if (x > 0) positiveInfinity++;
      else if (x < 0) negativeInfinity++;
      else nan++;
    }
  }
  return { nan, positiveInfinity, negativeInfinity, negativeZero, positiveZero };
}
