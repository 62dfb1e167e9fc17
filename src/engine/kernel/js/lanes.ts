import { foldLanes } from "../double-double.ts";

const high = new Float64Array(8);
const low = new Float64Array(8);

/** The JavaScript form of assembly/sums/lanes.ts: the same additions in the same order. */
export function lanes(values: Float64Array): [number, number] {
  for (let lane = 0; lane < 8; lane++) {
    let sum = 0;
    let lost = 0;
    for (let i = lane; i < values.length; i += 8) {
      let x = values[i]!;
      if (x - x !== 0) x = 0;
      const next = sum + x;
      const part = next - sum;
      lost += sum - (next - part) + (x - part);
      sum = next;
    }
    high[lane] = sum;
    low[lane] = lost;
  }
  return foldLanes(high, low);
}
