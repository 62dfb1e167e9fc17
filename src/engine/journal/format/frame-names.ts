/** Sequences in one block. Those of a producer follow each other, so most blocks are full. */
const BLOCK = 32;
/** Sizes in Node's heap, with the entries of maps. */
const BLOCK_BYTES = 340;
const PRODUCER_BYTES = 420;
const EMPTY: readonly number[] = Array.from({ length: BLOCK }, () => Number.NEGATIVE_INFINITY);

interface Producer {
  readonly id: number;
  readonly blocks: Map<number, number[]>;
  /** The block used last. */
  index: number;
  block: number[] | undefined;
}

/**
 * The stamps of frames by producer and sequence (u32, or both as i32). A frame takes 8 bytes if sequences have no gap. The only
 * frame of a producer takes 24 to 48, in a table of its own until the second one.
 */
export class FrameNames {
  readonly #producers = new Map<number, Producer>();
  readonly #lone = new LoneFrames();
  #last: Producer | undefined;
  #bytes = 0;

  /** Approximate size in the heap. */
  get sizeBytes(): number {
    return this.#bytes + this.#lone.sizeBytes;
  }

  get isEmpty(): boolean {
    return this.#last === undefined && this.#lone.count === 0;
  }

  /** -Infinity without one. */
  stampOf(given: number, sequence: number): number {
    const producer = given | 0;
    const known = this.#last?.id === producer ? this.#last : this.#producers.get(producer);
    if (!known) {
      const slot = this.#lone.find(producer);
      return slot >= 0 && this.#lone.sequenceAt(slot) === (sequence | 0)
        ? this.#lone.stampAt(slot)
        : Number.NEGATIVE_INFINITY;
    }
    this.#last = known;
    const index = sequence >>> 5;
    const block = known.index === index ? known.block : known.blocks.get(index);
    return block ? block[sequence & (BLOCK - 1)]! : Number.NEGATIVE_INFINITY;
  }

  set(given: number, sequence: number, stampMs: number): void {
    const producer = given | 0;
    const known = this.#last?.id === producer ? this.#last : this.#producers.get(producer);
    if (known) this.#put(known, sequence, stampMs);
    else if (Number.isNaN(stampMs) || this.#lone.find(producer) >= 0) this.#promote(producer, sequence, stampMs);
    else this.#lone.set(producer, sequence, stampMs);
  }

  /** Moves a producer with its first frame to the blocks. Its slot in the table is ignored from now on. */
  #promote(producer: number, sequence: number, stampMs: number): void {
    const known = { id: producer, blocks: new Map(), index: -1, block: undefined };
    this.#producers.set(producer, known);
    this.#bytes += PRODUCER_BYTES;
    const slot = this.#lone.find(producer);
    if (slot >= 0) this.#put(known, this.#lone.sequenceAt(slot), this.#lone.stampAt(slot));
    this.#put(known, sequence, stampMs);
  }

  #put(known: Producer, sequence: number, stampMs: number): void {
    this.#last = known;
    const index = sequence >>> 5;
    if (known.index !== index) {
      let block = known.blocks.get(index);
      if (!block) {
        block = EMPTY.slice();
        known.blocks.set(index, block);
        this.#bytes += BLOCK_BYTES;
      }
      known.index = index;
      known.block = block;
    }
    known.block![sequence & (BLOCK - 1)] = stampMs;
  }

  /** Whether `test` is true for any frame. Stops at the first. */
  some(test: (producer: number, sequence: number, stampMs: number) => boolean): boolean {
    for (const { id, blocks } of this.#producers.values())
      for (const [index, block] of blocks)
        for (let i = 0; i < BLOCK; i++)
          if (block[i] !== Number.NEGATIVE_INFINITY && test(id, index * BLOCK + i, block[i]!)) return true;
    return this.#lone.some((producer, ...frame) => !this.#producers.has(producer) && test(producer, ...frame));
  }

  /** Adds all frames of another one. Its stamps replace those of equal names. */
  setAll(other: FrameNames): void {
    other.some((producer, sequence, stampMs) => {
      this.set(producer, sequence, stampMs);
      return false;
    });
  }
}

const FIRST_SLOTS = 16;
const SLOT_BYTES = 16;
/**
 * Random in each process, so that nobody can choose producers that collide. 0 until the first table grows, because Workers
 * allow no random numbers while a module is loaded.
 */
let seed = 0;

/**
 * A hash table with open addressing: the stamp of one frame of each of many producers. A slot has 16 bytes. A large table is a
 * third to two thirds full.
 */
class LoneFrames {
  count = 0;
  #producers = new Int32Array(0);
  #sequences = new Int32Array(0);
  /** NaN: the slot is free. */
  #stamps = new Float64Array(0);

  get sizeBytes(): number {
    return this.#stamps.length * SLOT_BYTES;
  }

  /** The slot of a producer; negative without one. */
  find(producer: number): number {
    if (this.count === 0) return -1;
    const slot = this.#slotOf(producer);
    return Number.isNaN(this.#stamps[slot]!) ? -1 : slot;
  }

  /** The sequence as i32. */
  sequenceAt(slot: number): number {
    return this.#sequences[slot]!;
  }

  stampAt(slot: number): number {
    return this.#stamps[slot]!;
  }

  /** Sets or replaces the producer's frame. `stampMs` is not NaN. */
  set(producer: number, sequence: number, stampMs: number): void {
    if (3 * (this.count + 1) > 2 * this.#stamps.length) this.#grow();
    const slot = this.#slotOf(producer);
    if (Number.isNaN(this.#stamps[slot]!)) this.count++;
    this.#producers[slot] = producer;
    this.#sequences[slot] = sequence;
    this.#stamps[slot] = stampMs;
  }

  /** Whether `test` is true for any frame. Stops at the first. */
  some(test: (producer: number, sequence: number, stampMs: number) => boolean): boolean {
    for (let slot = 0; slot < this.#stamps.length; slot++) {
      const stampMs = this.#stamps[slot]!;
      if (!Number.isNaN(stampMs) && test(this.#producers[slot]!, this.#sequences[slot]!, stampMs)) return true;
    }
    return false;
  }

  /** The slot of a producer, or the next free one. */
  #slotOf(producer: number): number {
    const mask = this.#stamps.length - 1;
    const id = producer | 0;
    let slot = Math.imul(id ^ (id >>> 15) ^ seed, 0x9e3779b1) >>> 7;
    for (slot &= mask; !Number.isNaN(this.#stamps[slot]!) && this.#producers[slot] !== id; slot = (slot + 1) & mask);
    return slot;
  }

  #grow(): void {
    seed ||= (Math.random() * 2 ** 32) | 1;
    const [producers, sequences, stamps] = [this.#producers, this.#sequences, this.#stamps];
    const slots = Math.max(FIRST_SLOTS, 2 * stamps.length);
    this.#producers = new Int32Array(slots);
    this.#sequences = new Int32Array(slots);
    this.#stamps = new Float64Array(slots).fill(Number.NaN);
    this.count = 0;
    for (let slot = 0; slot < stamps.length; slot++)
      if (!Number.isNaN(stamps[slot]!)) this.set(producers[slot]!, sequences[slot]!, stamps[slot]!);
  }
}
