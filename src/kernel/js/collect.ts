import type { Column } from "../contract.ts";
import type { Collected } from "../passes.ts";

/** The JS form of assembly/collect.ts; `pile`: what is collected goes behind it, into the same buffer. */
export function collect(values: Column, first: number, last: number, pile?: Column): Collected<Column> {
  const buffer = (pile?.buffer ?? new ArrayBuffer(values.byteLength)) as ArrayBuffer;
  const out = values instanceof Float32Array ? new Float32Array(buffer) : new Float64Array(buffer);
  const held = pile?.length ?? 0;
  let below = 0;
  let count = held;
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
  return { below, allNumbers, count: count - held, inside: out.subarray(0, count) };
}
