import type { Column } from "../kernel/contract.ts";
import { lowerBound, upperBound } from "./bounds.ts";
import { MOST_BRACKETS, type Run } from "./run.ts";
import { type Ranges, selectInRuns } from "./select-runs.ts";

/** Fewer values are selected from at once. */
const WORTH_IT = 4096;
/** Ranks on either side: a miss widens a bracket by 4, 64 hits in a row narrow it by 2. */
const FIRST = 256;
const NARROWEST = 32;
const WIDEST = 4096;
const HITS_TO_NARROW = 64;

interface Bracket {
  slot: number;
  low: number;
  high: number;
  /** Ranks on either side when it was drawn; 0: not drawn yet. */
  width: number;
  hits: number;
}

/**
 * Where percentiles lay at the last query: two values between which rank k most likely still lies. Each query counts
 * anew what is below and up to them, from where they lay in each run, so a bracket shortens the search and never
 * decides the answer: one that misses costs a search without it, and is drawn anew, wider.
 */
export class Brackets {
  #brackets = new Map<string, Bracket>();

  /** As `selectInRuns`; `key` tells one percentile of one kind of window from another. */
  select(runs: readonly Run[], columns: readonly Column[], count: number, k: number, key: string): [number, number] {
    if (count < WORTH_IT) return selectInRuns(columns, k);
    const bracket = this.#brackets.get(key) ?? this.#begin(key);
    const ranges = rangesOf(runs, bracket);
    const holds = ranges !== undefined && ranges.before <= k && k < ranges.before + sizeOf(ranges);
    if (holds && (++bracket.hits < HITS_TO_NARROW || bracket.width === NARROWEST))
      return selectInRuns(columns, k, ranges);
    if (holds) bracket.width = Math.max(NARROWEST, bracket.width / 2);
    else bracket.width = bracket.width === 0 ? FIRST : Math.min(WIDEST, bracket.width * 4);
    bracket.hits = 0;
    bracket.low = selectInRuns(columns, Math.max(0, k - bracket.width))[0];
    bracket.high = selectInRuns(columns, Math.min(count - 1, k + bracket.width))[0];
    return selectInRuns(columns, k, rangesOf(runs, bracket));
  }

  #begin(key: string): Bracket {
    let slot = this.#brackets.size;
    if (slot === MOST_BRACKETS) {
      const [oldest, { slot: freed }] = this.#brackets.entries().next().value!;
      this.#brackets.delete(oldest);
      slot = freed;
    }
    const bracket = { slot, low: Number.NaN, high: Number.NaN, width: 0, hits: 0 };
    this.#brackets.set(key, bracket);
    return bracket;
  }
}

/** What of each run lies from `low` to `high`, both included; undefined for a bracket not drawn yet. */
function rangesOf(runs: readonly Run[], { slot, low, high, width }: Bracket): Ranges | undefined {
  if (width === 0) return undefined;
  const ranges = { low: new Int32Array(runs.length), high: new Int32Array(runs.length), before: 0 };
  for (let r = 0; r < runs.length; r++) {
    const { sorted, places } = runs[r];
    const from = gallop(sorted, low, places[2 * slot], lowerBound);
    const to = gallop(sorted, high, places[2 * slot + 1], upperBound);
    places[2 * slot] = ranges.low[r] = from;
    places[2 * slot + 1] = ranges.high[r] = to;
    ranges.before += from;
  }
  return ranges;
}

function sizeOf({ low, high }: Ranges): number {
  let size = 0;
  for (let r = 0; r < low.length; r++) size += high[r] - low[r];
  return size;
}

/** `bound` of the whole column, looked for around `guess` in steps that double. */
function gallop(sorted: Column, limit: number, guess: number, bound: typeof lowerBound): number {
  const length = sorted.length;
  let low = Math.min(guess, length);
  let high = low;
  for (let step = 1; low > 0 && sorted[low - 1] >= limit; step *= 2) low = Math.max(0, low - step);
  for (let step = 1; high < length && sorted[high] <= limit; step *= 2) high = Math.min(length, high + step);
  return bound(sorted, limit, low, high);
}
