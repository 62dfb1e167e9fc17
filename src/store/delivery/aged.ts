/** Items in the order of their arrival, each once, with the time. */
export class Aged<Item> {
  readonly #atMs = new Map<Item, number>();

  add(item: Item): void {
    this.#atMs.set(item, performance.now());
  }

  /** Returns whether the item was present. */
  delete(item: Item): boolean {
    return this.#atMs.delete(item);
  }

  /** Takes out what came longer ago; O(of that). */
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
