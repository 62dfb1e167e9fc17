import type { SampledBracket } from "./bracket.ts";
import { narrowDown } from "./narrow.ts";
import type { Passes } from "./passes.ts";

/**
 * The counts of a pass around a bracket. `inside` is the collected values. Ranks in the order of values:
 *
 *   | below low | equal to low, if not collected    | collected | equal to high, if not collected    | above |
 *            lowBelow                             below       upTo                                highUpTo
 */
export interface Tally<H> {
  lowBelow: number;
  below: number;
  upTo: number;
  highUpTo: number;
  inside: H;
}

/** The values at ranks k and k + 1 (k again at the end) of n; null if one is outside. Uses up `inside`. */
export function numberPair<H>(
  passes: Passes<H>,
  { lowBelow, below, upTo, highUpTo, inside }: Tally<H>,
  { low, high, first, last }: SampledBracket,
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
