import type { WindowAggregates } from "../window-stats.ts";
import type { MomentTree } from "./moment-tree.ts";
import type { Pieces } from "./pieces.ts";
import type { Positions } from "./positions.ts";
import type { WindowMoments } from "./window-moments.ts";

/** The aggregates of the events from number `from` to before `to`. The next fold replaces them. */
export class IndexedFold implements WindowAggregates {
  readonly count: number;
  readonly #positions: Positions;
  readonly #pieces: Pieces;
  readonly #from: number;
  readonly #moments: WindowMoments;
  #ranks: readonly number[] = [];
  #values: readonly number[] = [];

  constructor(positions: Positions, pieces: Pieces, tree: MomentTree, from: number, to: number) {
    this.count = to - from;
    this.#positions = positions;
    this.#pieces = pieces;
    this.#from = from;
    this.#moments = tree.collect(positions, from, to);
  }

  get nanCount(): number {
    return this.#moments.nanCount;
  }

  get validCount(): number {
    return this.count - this.#moments.nanCount;
  }

  get sum(): number {
    return this.#moments.total;
  }

  get mean(): number {
    return this.#moments.mean;
  }

  get min(): number {
    return this.#moments.min;
  }

  get max(): number {
    return this.#moments.max;
  }

  variance(ddof: number): number {
    return this.#moments.variance(ddof);
  }

  /** Finds the values at these ranks, and at the next ones, in one descent. */
  seek(ranks: readonly number[]): void {
    if (ranks.length === 0) return;
    const last = this.validCount - 1;
    const all: number[] = [];
    for (const k of ranks) {
      insert(all, k);
      insert(all, Math.min(k + 1, last));
    }
    this.#ranks = all;
    this.#values = this.#pieces.select(this.#positions, this.#from, this.#from + this.count, this.#ranks);
  }

  valuesAt(k: number): [number, number] {
    const i = this.#ranks.indexOf(k);
    return [this.#values[i]!, this.#values[Math.min(i + 1, this.#ranks.length - 1)]!];
  }
}

/** Inserts a rank into ascending ones, unless it is there. Callers most often ask in ascending order. */
function insert(ranks: number[], k: number): void {
  let i = ranks.length;
  while (i > 0 && ranks[i - 1]! > k) i--;
  if (ranks[i - 1] === k) return;
  ranks.push(k);
  for (let j = ranks.length - 1; j > i; j--) ranks[j] = ranks[j - 1]!;
  ranks[i] = k;
}
