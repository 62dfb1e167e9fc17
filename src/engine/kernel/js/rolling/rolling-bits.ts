/** The JavaScript form of assembly/rolling/rolling-bits.ts, in words of 32 bits. */
export class RankSet {
  readonly #level0: Uint32Array;
  readonly #level1: Uint32Array;
  readonly #level2: Uint32Array;

  constructor(limit: number) {
    this.#level0 = new Uint32Array((limit >>> 5) + 2);
    this.#level1 = new Uint32Array((limit >>> 10) + 2);
    this.#level2 = new Uint32Array((limit >>> 15) + 2);
  }

  add(rank: number): void {
    const word = this.#level0[rank >>> 5]!;
    this.#level0[rank >>> 5] = word | (1 << rank);
    if (word !== 0) return;
    this.#level1[rank >>> 10]! |= 1 << (rank >>> 5);
    this.#level2[rank >>> 15]! |= 1 << (rank >>> 10);
  }

  remove(rank: number): void {
    const word = this.#level0[rank >>> 5]! & ~(1 << rank);
    this.#level0[rank >>> 5] = word;
    if (word !== 0) return;
    const above = this.#level1[rank >>> 10]! & ~(1 << (rank >>> 5));
    this.#level1[rank >>> 10] = above;
    if (above === 0) this.#level2[rank >>> 15]! &= ~(1 << (rank >>> 10));
  }

  has(rank: number): boolean {
    return ((this.#level0[rank >>> 5]! >>> rank) & 1) !== 0;
  }

  /** Number of members in the word of `rank`. */
  near(rank: number): number {
    let x = this.#level0[rank >>> 5]!;
    x -= (x >>> 1) & 0x55555555;
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }

  /** The smallest member from `from` upward. There must be one. */
  first(from: number): number {
    const rest = this.#level0[from >>> 5]! >>> from;
    return rest !== 0 ? from + lowest(rest) : this.#firstWord((from >>> 5) + 1);
  }

  /** The largest member below `before`. There must be one. */
  last(before: number): number {
    const at = before - 1;
    const rest = this.#level0[at >>> 5]! << (31 - at);
    return rest !== 0 ? at - Math.clz32(rest) : this.#lastWord(at >>> 5);
  }

  #firstWord(from: number): number {
    let word = from;
    const rest = this.#level1[word >>> 5]! >>> word;
    if (rest !== 0) word += lowest(rest);
    else {
      const above = (word >>> 5) + 1;
      let at = above >>> 5;
      let top = this.#level2[at]! & (-1 << above);
      while (top === 0) top = this.#level2[++at]!;
      const middle = at * 32 + lowest(top);
      word = middle * 32 + lowest(this.#level1[middle]!);
    }
    return word * 32 + lowest(this.#level0[word]!);
  }

  #lastWord(before: number): number {
    let word = before - 1;
    const rest = this.#level1[word >>> 5]! << (31 - word);
    if (rest !== 0) word -= Math.clz32(rest);
    else {
      const above = (word >>> 5) - 1;
      let at = above >>> 5;
      let top = this.#level2[at]! & (-1 >>> (31 - above));
      while (top === 0) top = this.#level2[--at]!;
      const middle = at * 32 + 31 - Math.clz32(top);
      word = middle * 32 + 31 - Math.clz32(this.#level1[middle]!);
    }
    return word * 32 + 31 - Math.clz32(this.#level0[word]!);
  }
}

function lowest(word: number): number {
  return 31 - Math.clz32(word & -word);
}
