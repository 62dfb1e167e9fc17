import { nameLabel } from "./metric.ts";

/** The names of one kind of structures that have labels of their own. All later names share one label. */
export class Names {
  readonly #maxNames: number;
  readonly #own = new Set<string>();

  constructor(maxNames = Number.POSITIVE_INFINITY) {
    this.#maxNames = maxNames;
  }

  /** Whether the name has its own label, or gets it now. */
  has(name: string): boolean {
    if (this.#own.has(name)) return true;
    if (this.#own.size >= this.#maxNames) return false;
    this.#own.add(name);
    return true;
  }

  labelOf(name: string): string {
    return nameLabel(this.has(name) ? name : "");
  }
}
