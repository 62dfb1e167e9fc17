import type { Column } from "../contract.ts";
import type { Passes } from "./passes.ts";

/** Counts of the values below `limit` and equal to it. Exact even if f32 cannot represent the limit. */
export function rankOf<H>(passes: Passes<H>, values: Column, limit: number): { below: number; equal: number } {
  const held = passes.hold(values);
  const near = values instanceof Float32Array ? Math.fround(limit) : limit;
  const { below, equal } = passes.rank(held, near);
  if (near === limit || Number.isNaN(limit)) return { below, equal };
  // No f32 equals the limit, and none lies between it and its rounding. The values equal to the rounding are on one side.
  return { below: near < limit ? below + equal : below, equal: 0 };
}
