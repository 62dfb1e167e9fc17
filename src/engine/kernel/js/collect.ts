import type { Column } from "../contract.ts";
import type { Collected } from "../passes/passes.ts";
import { BLOCK, widen } from "./widen.ts";

/** The JavaScript form of assembly/selection/collect.ts. Appends to `pile`, in its buffer, if it is passed. */
export function collect(values: Column, first: number, last: number, pile?: Column): Collected<Column> {
  const buffer = (pile?.buffer ?? new ArrayBuffer(values.byteLength)) as ArrayBuffer;
  const out = values instanceof Float32Array ? new Float32Array(buffer) : new Float64Array(buffer);
  const held = pile?.length ?? 0;
  let below = 0;
  let count = held;
  let allNumbers = true;
  for (let begin = 0; begin < values.length; begin += BLOCK) {
    const block = widen(values, begin, Math.min(begin + BLOCK, values.length));
    const whole = block.length - 3;
    for (let i = 0; i < block.length; ) {
      // Skips four values at a time while all are below. For a high percentile, most values are.
      while (
        i < whole &&
        block[i]! < first &&
        block[i + 1]! < first &&
        block[i + 2]! < first &&
        block[i + 3]! < first
      ) {
        i += 4;
        below += 4;
      }
      for (const next = Math.min(block.length, i + 4); i < next; i++) {
        const x = block[i]!;
        if (x >= first) {
          if (x <= last) out[count++] = x;
        } else {
          below++;
          if (!(x < first)) allNumbers = false;
        }
      }
    }
  }
  return { below, allNumbers, count: count - held, inside: out.subarray(0, count) };
}
