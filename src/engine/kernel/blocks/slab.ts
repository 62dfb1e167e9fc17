type SmallColumn = Float32Array | Float64Array | Uint32Array;

/** Values of one memory. */
const SLAB_VALUES = 4096;

/**
 * Small arrays that share a memory. An array with a memory of its own costs more than the few values that are written to it, and a
 * query makes thousands. A memory lives as long as one of its arrays.
 */
export class Slab<T extends SmallColumn> {
  readonly #make: (count: number) => T;
  #memory: T | undefined;
  #used = 0;

  constructor(make: (count: number) => T) {
    this.#make = make;
  }

  /** An array with any content. */
  take(count: number): T {
    if (!this.#memory || this.#used + count > this.#memory.length) {
      this.#memory = this.#make(Math.max(count, SLAB_VALUES));
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += count;
    return this.#memory.subarray(from, this.#used) as T;
  }
}
