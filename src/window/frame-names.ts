/** Sequences of one block; a producer's follow each other, so that most are full. */
const BLOCK = 32;
const EMPTY: readonly number[] = Array.from({ length: BLOCK }, () => -Infinity);

interface Producer {
  readonly id: number;
  readonly blocks: Map<number, number[]>;
  /** The block used last. */
  index: number;
  block: number[] | undefined;
}

/** The stamps of frames by their names, producer and sequence (u32, or all as i32): 8 bytes each where sequences have no gap. */
export class FrameNames {
  readonly #producers = new Map<number, Producer>();
  #last: Producer | undefined;

  get isEmpty(): boolean {
    return this.#last === undefined;
  }

  /** -Infinity where there is none. */
  stampOf(producer: number, sequence: number): number {
    const known = this.#last?.id === producer ? this.#last : this.#producers.get(producer);
    if (!known) return -Infinity;
    this.#last = known;
    const index = sequence >>> 5;
    const block = known.index === index ? known.block : known.blocks.get(index);
    return block ? block[sequence & (BLOCK - 1)] : -Infinity;
  }

  set(producer: number, sequence: number, stampMs: number): void {
    let known = this.#last?.id === producer ? this.#last : this.#producers.get(producer);
    if (!known) {
      known = { id: producer, blocks: new Map(), index: -1, block: undefined };
      this.#producers.set(producer, known);
    }
    this.#last = known;
    const index = sequence >>> 5;
    if (known.index !== index) {
      let block = known.blocks.get(index);
      if (!block) {
        block = EMPTY.slice();
        known.blocks.set(index, block);
      }
      known.index = index;
      known.block = block;
    }
    known.block![sequence & (BLOCK - 1)] = stampMs;
  }

  /** Whether `test` is true of one; it is asked until then. */
  some(test: (producer: number, sequence: number, stampMs: number) => boolean): boolean {
    for (const { id, blocks } of this.#producers.values())
      for (const [index, block] of blocks)
        for (let i = 0; i < BLOCK; i++)
          if (block[i] !== -Infinity && test(id, index * BLOCK + i, block[i])) return true;
    return false;
  }

  /** Takes over all of another's, whose stamps go before its own. */
  setAll(other: FrameNames): void {
    other.some((producer, sequence, stampMs) => {
      this.set(producer, sequence, stampMs);
      return false;
    });
  }
}
