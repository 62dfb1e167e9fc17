import type { Column } from "../contract.ts";
import type { Lanes } from "../passes.ts";

/** Blocks stay in the first-level cache while each lane walks over them. */
const BLOCK = 2048;

/** The JS form of assembly/lanes.ts: the same additions in the same order. */
export function lanes(values: Column): Lanes {
  const result: Lanes = {
    high: new Float64Array(8),
    low: new Float64Array(8),
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    allFinite: true,
  };
  for (let begin = 0; begin < values.length; begin += BLOCK)
    strides(values, begin, Math.min(begin + BLOCK, values.length), result);
  return result;
}

function strides(values: Column, begin: number, end: number, result: Lanes): void {
  let { min, max, allFinite } = result;
  for (let lane = 0; lane < 8; lane++) {
    let high = result.high[lane]!;
    let low = result.low[lane]!;
    for (let i = begin + lane; i < end; i += 8) {
      let x = values[i]!;
      if (x < min) min = x;
      if (x > max) max = x;
      if (x - x !== 0) {
        x = 0;
        allFinite = false;
      }
      const sum = high + x;
      const part = sum - high;
      low += high - (sum - part) + (x - part);
      high = sum;
    }
    result.high[lane] = high;
    result.low[lane] = low;
  }
  result.min = min;
  result.max = max;
  result.allFinite = allFinite;
}
