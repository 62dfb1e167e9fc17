import type { Passes } from "./passes.ts";

/** At or below so many values, sorting is quicker than narrowing once more. */
const FEW = 256;

/** Radix selection of ranks k and k + 1: each step keeps one of 2048 ranges of what is left, so a few steps do whatever the data. */
export function narrowDown<H>(
  passes: Passes<H>,
  held: H,
  count: number,
  k: number,
  low: number,
  high: number,
): [number, number] {
  if (count <= FEW) {
    const sorted = passes.sorted(held);
    return [sorted[k]!, sorted[Math.min(k + 1, count - 1)]!];
  }
  const { before, found, first, last } = passes.narrow(held, k, low, high);
  if (found) return [first, last];
  const kept = passes.collect(held, first, last);
  return narrowDown(passes, kept.inside, kept.count, k - before, first, last);
}
