import type { Expected } from "./truth.ts";

/** Percentiles that are asked for where an error is accepted. */
export const NEARLY = [1, 50, 99] as const;

/** The answer about a window of a reader that read a part of it from a summary. */
export interface Nearly {
  count: number;
  sum: number;
  percentiles: Record<number, number>;
  approximate: { rankError: number; events: number };
}

/** Whether no number is further from the truth than the answer says itself, nor than was accepted. */
export function isNear({ count, sum, percentiles, approximate }: Nearly, accepted: number, truth: Expected): boolean {
  const { rankError, events } = approximate;
  const { values } = truth;
  if (!(rankError <= accepted) || Math.abs(count - truth.count) > events) return false;
  if (events === 0 && sum !== truth.sum) return false;
  return values.length === 0 || NEARLY.every((p) => rankErrorOf(values, percentiles[p]!, p / 100) <= rankError + 1e-9);
}

/** By which share of all the rank of a value is beside the one asked for; infinite for NaN. */
function rankErrorOf(sorted: Float64Array, value: number, share: number): number {
  if (Number.isNaN(value)) return Number.POSITIVE_INFINITY;
  const below = sorted.filter((each) => each < value).length / sorted.length;
  const upTo = sorted.filter((each) => each <= value).length / sorted.length;
  return Math.max(0, below - share, share - upTo);
}
