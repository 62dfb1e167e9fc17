/**
 * Counts of many ids in bounded memory. They are exact up to `maxIds` ids. Above that, each count may be too small, by at most
 * the total divided by `maxIds + 1`: J. Misra, D. Gries, "Finding repeated elements", 1982.
 */
export class TopCounts {
  readonly #maxIds: number;
  #counts = new Map<string, number>();

  constructor(maxIds: number) {
    this.#maxIds = maxIds;
  }

  /** O(1) on average. */
  add(id: string): void {
    const count = this.#counts.get(id);
    if (count !== undefined || this.#counts.size < this.#maxIds) {
      this.#counts.set(id, (count ?? 0) + 1);
      return;
    }
    for (const [each, its] of this.#counts)
      if (its === 1) this.#counts.delete(each);
      else this.#counts.set(each, its - 1);
  }

  /** Returns the counts and begins anew. */
  takeAll(): ReadonlyMap<string, number> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }
}
