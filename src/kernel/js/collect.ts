import type { Column } from "../contract.ts";
import type { Collected } from "../passes.ts";

/** The JS form of assembly/collect.ts. */
export function collect(values: Column, first: number, last: number): Collected<Column> {
  const out = values instanceof Float32Array ? new Float32Array(values.length) : new Float64Array(values.length);
  let below = 0;
  let count = 0;
  let allNumbers = true;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x >= first) {
      if (x <= last) out[count++] = x;
    } else {
      below++;
      if (!(x < first)) allNumbers = false;
    }
  }
  return { below, allNumbers, count, inside: out.subarray(0, count) };
}
