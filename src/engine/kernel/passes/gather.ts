import type { Column, Source } from "../contract.ts";
import type { Passes } from "./passes.ts";

/** A copy of the values inside, in order. */
export function gather<H>(passes: Passes<H>, source: Source): Column {
  const maxCount = source.end - source.begin;
  const out = source.wide ? new Float64Array(maxCount) : new Float32Array(maxCount);
  const stream = passes.stream(source, 0, 0);
  let count = 0;
  for (let at = stream.next(); at !== null; at = stream.next()) {
    out.set(passes.view(at.piece), count);
    count += at.count;
  }
  return out.subarray(0, count);
}
