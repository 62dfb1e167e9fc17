/** Keys that were used last, as many as it may hold: of rows that the table has. */
export class KnownKeys {
  readonly #keys = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether it holds the key, which from now on is the one used last. */
  has(key: string): boolean {
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }

  add(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size <= this.#most) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#keys.delete(key);
  }
}
