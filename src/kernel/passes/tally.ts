import type { Bracket } from "./bracket.ts";
import { narrowDown } from "./narrow.ts";
import type { Passes } from "./passes.ts";

/**
 * What a pass counted about a bracket. In the order of values, ranks lie like this:
 *
 *   | below low | equal to low, where not collected | collected | equal to high, where not collected | above |
 *            lowBelow                             below       upTo                                highUpTo
 */
export interface Tally<H> {
  lowBelow: number;
  below: number;
  upTo: number;
  highUpTo: number;
  inside: H;
}

/** The values at ranks k and k + 1 (k again at the end) of n; null where the bracket does not hold both. Spends `inside`. */
export function numberPair<H>(
  passes: Passes<H>,
  { lowBelow, below, upTo, highUpTo, inside }: Tally<H>,
  { low, high, first, last }: Bracket,
  n: number,
  k: number,
): [number, number] | null {
  const next = Math.min(k + 1, n - 1);
  if (k < lowBelow || next >= highUpTo) return null;
  const within = (rank: number) => narrowDown(passes, inside, upTo - below, rank - below, first, last);
  if (k >= below && k < upTo) return next < upTo ? within(k) : [within(k)[0], high];
  if (k < below && next >= below && next < upTo) return [low, within(next)[0]];
  return [k < below ? low : high, next < below ? low : high];
}
