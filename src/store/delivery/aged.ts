/** A set of items in the order of their arrival, with the time of each. */
export class Aged<Item> {
  readonly #atMs = new Map<Item, number>();

  add(item: Item): void {
    this.#atMs.set(item, performance.now());
  }

  /** Returns whether the item was present. */
  delete(item: Item): boolean {
    return this.#atMs.delete(item);
  }

  /** Removes and returns the items that were added more than `ms` ago. Cost: O(returned items). */
  takeOlderThan(ms: number): Item[] {
    const taken: Item[] = [];
    const beforeMs = performance.now() - ms;
    for (const [item, atMs] of this.#atMs) {
      if (atMs >= beforeMs) break;
      taken.push(item);
      this.#atMs.delete(item);
    }
    return taken;
  }

  get all(): Item[] {
    return [...this.#atMs.keys()];
  }
}
