import type { WindowAggregates } from "../window-stats.ts";
import type { MomentTree } from "./moment-tree.ts";
import type { Pieces } from "./pieces.ts";
import type { Positions } from "./positions.ts";
import { WindowMoments } from "./window-moments.ts";

/** All folds use the same room, because the answer of one query is read before the next. */
const moments = new WindowMoments();

/** The aggregates of the events from number `from` to before `to`. The next fold replaces them. */
export class IndexedFold implements WindowAggregates {
  readonly count: number;
  readonly #positions: Positions;
  readonly #pieces: Pieces;
  readonly #from: number;
  #ranks: readonly number[] = [];
  #values: readonly number[] = [];

  constructor(positions: Positions, pieces: Pieces, tree: MomentTree, from: number, to: number) {
    this.count = to - from;
    this.#positions = positions;
    this.#pieces = pieces;
    this.#from = from;
    moments.clear();
    if (to > from) tree.collect(positions, from, to, moments);
    moments.sum();
  }

  get nanCount(): number {
    return moments.nanCount;
  }

  get validCount(): number {
    return this.count - moments.nanCount;
  }

  get sum(): number {
    return moments.total;
  }

  get mean(): number {
    return moments.mean;
  }

  get min(): number {
    return moments.min;
  }

  get max(): number {
    return moments.max;
  }

  variance(ddof: number): number {
    return moments.variance(ddof);
  }

  /** Finds the values at these ranks, and at the next ones, in one descent. */
  seek(ranks: readonly number[]): void {
    if (ranks.length === 0) return;
    const last = this.validCount - 1;
    const all: number[] = [];
    for (const k of ranks) all.push(k, Math.min(k + 1, last));
    all.sort((a, b) => a - b);
    this.#ranks = all.filter((k, i) => k !== all[i - 1]);
    this.#values = this.#pieces.select(this.#positions, this.#from, this.#from + this.count, this.#ranks);
  }

  valuesAt(k: number): [number, number] {
    const i = this.#ranks.indexOf(k);
    return [this.#values[i]!, this.#values[Math.min(i + 1, this.#ranks.length - 1)]!];
  }
}
