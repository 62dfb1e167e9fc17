/** The most recently used keys of rows that the table has, up to a maximum. */
export class KnownKeys {
  readonly #keys = new Set<string>();
  readonly #maxKeys: number;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Whether the key is known. It becomes the most recently used one. */
  has(key: string): boolean {
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }

  add(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size <= this.#maxKeys) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#keys.delete(key);
  }
}
