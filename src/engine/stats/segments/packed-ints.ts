const GROUP_BITS = 6;
const GROUP = 1 << GROUP_BITS;
/** By number of bits: a mask with the lowest bits set. */
const MASKS = Uint32Array.from({ length: 33 }, (_, width) => 2 ** width - 1);
/** More integers can take more words than a u16 counts. */
const MAX_INTS = 65_536 - GROUP;

/**
 * Up to 65 472 u32 in less memory. A group of 64 has its least integer, and the distance of each integer from it. All
 * distances of a group have as many bits as the largest one.
 *
 *   bases   | u32 | u32 | ...               the least integer of each group
 *   places  | u16 | u16 | ...               the word at which each group begins; at last the end
 *   words   | 64 × w bits | 64 × w bits | ... w is half the number of words of a group
 *
 * Cost: a read takes a few ns. This is frame-of-reference coding (Goldstein, Ramakrishnan and Shaft 1998).
 */
export class PackedInts {
  readonly #bases: Uint32Array;
  readonly #places: Uint16Array;
  readonly #words: Uint32Array;

  constructor(ints: ArrayLike<number>) {
    if (ints.length > MAX_INTS) throw new RangeError(`${ints.length} integers; at most ${MAX_INTS} can be packed`);
    const groups = Math.ceil(ints.length / GROUP);
    this.#bases = new Uint32Array(groups);
    this.#places = new Uint16Array(groups + 1);
    for (let group = 0; group < groups; group++) this.#measure(ints, group);
    // One word more, because the last group may have no bits, and a read of it then reads the next word.
    this.#words = new Uint32Array(this.#places[groups]! + 1);
    for (let group = 0; group < groups; group++) this.#write(ints, group);
  }

  get sizeBytes(): number {
    return this.#bases.byteLength + this.#places.byteLength + this.#words.byteLength;
  }

  at(i: number): number {
    const group = i >>> GROUP_BITS;
    const place = this.#places[group]!;
    const width = (this.#places[group + 1]! - place) >>> 1;
    const bit = (i & (GROUP - 1)) * width;
    const word = place + (bit >>> 5);
    const shift = bit & 31;
    let distance = this.#words[word]! >>> shift;
    if (shift + width > 32) distance |= this.#words[word + 1]! << (32 - shift);
    return ((distance & MASKS[width]!) >>> 0) + this.#bases[group]!;
  }

  /** Writes the integers from index `from` to before `to` to `into`, from its index 0 on. Each takes less time than by `at`. */
  copyTo(into: Uint32Array, from: number, to: number): void {
    const words = this.#words;
    for (let i = from; i < to; ) {
      const group = i >>> GROUP_BITS;
      const place = this.#places[group]!;
      const width = (this.#places[group + 1]! - place) >>> 1;
      const mask = MASKS[width]!;
      const base = this.#bases[group]!;
      const end = Math.min(to, (group + 1) * GROUP);
      for (let bit = (i & (GROUP - 1)) * width; i < end; i++, bit += width) {
        const word = place + (bit >>> 5);
        const shift = bit & 31;
        let distance = words[word]! >>> shift;
        if (shift + width > 32) distance |= words[word + 1]! << (32 - shift);
        into[i - from] = base + ((distance & mask) >>> 0);
      }
    }
  }

  /** Index of the first integer from `from` to before `to` that is not below `limit`; `to` if there is none. They must ascend. */
  lowerBound(limit: number, from: number, to: number): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #measure(ints: ArrayLike<number>, group: number): void {
    const end = Math.min(ints.length, (group + 1) * GROUP);
    let least = ints[group * GROUP]!;
    let most = least;
    for (let i = group * GROUP + 1; i < end; i++) {
      const int = ints[i]!;
      if (int < least) least = int;
      if (int > most) most = int;
    }
    this.#bases[group] = least;
    this.#places[group + 1] = this.#places[group]! + 2 * (32 - Math.clz32(most - least));
  }

  #write(ints: ArrayLike<number>, group: number): void {
    const words = this.#words;
    const base = this.#bases[group]!;
    let word = this.#places[group]!;
    const width = (this.#places[group + 1]! - word) >>> 1;
    const end = Math.min(ints.length, (group + 1) * GROUP);
    let used = 0;
    for (let i = group * GROUP; i < end; i++) {
      const distance = ints[i]! - base;
      words[word]! |= distance << used;
      used += width;
      if (used < 32) continue;
      used -= 32;
      word++;
      if (used > 0) words[word] = distance >>> (width - used);
    }
  }
}
