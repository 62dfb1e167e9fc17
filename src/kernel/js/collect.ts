import type { Column } from "../contract.ts";

/** The JS form of assembly/collect.ts. */
export function collect(values: Column, low: number, high: number): { atMost: number; inside: Column } {
  const out = values instanceof Float32Array ? new Float32Array(values.length) : new Float64Array(values.length);
  let atMost = 0;
  let inside = 0;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x <= low) atMost++;
    else if (x < high) out[inside++] = x;
  }
  return { atMost, inside: out.slice(0, inside) };
}
