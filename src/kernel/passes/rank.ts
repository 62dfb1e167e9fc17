import type { Column } from "../contract.ts";
import type { Passes } from "./passes.ts";

/** How many values are below `limit` and how many equal it, exactly, also where an f32 cannot hold the limit. */
export function rankOf<H>(passes: Passes<H>, values: Column, limit: number): { below: number; equal: number } {
  const held = passes.hold(values);
  const near = values instanceof Float32Array ? Math.fround(limit) : limit;
  const { below, equal } = passes.rank(held, near);
  if (near === limit || Number.isNaN(limit)) return { below, equal };
  // No f32 lies between the limit and its rounding, so nothing equals it, and the rounding falls on one side.
  return { below: near < limit ? below + equal : below, equal: 0 };
}
