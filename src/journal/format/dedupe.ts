import { FrameRanges } from "./frame-ranges.ts";
import { law } from "./law.ts";

/**
 * Which frames were counted lately: a copy of one within `law.dedupeMs` of journal time is not counted again.
 * Two generations, each one span long: what is looked up is in one of them, what is older than both is forgotten.
 */
export class Dedupe {
  #young = new FrameNames();
  #old = new FrameNames();
  #youngSinceMs = -Infinity;

  /** Those counted in the first span, and maybe some after it; it takes in no more once a later generation began. */
  readonly first = this.#young;
  /** Frames counted before, where only a summary tells of them. */
  readonly #before: FrameRanges | undefined;

  constructor(before?: FrameRanges) {
    this.#before = before;
  }

  /** All names held; the first may be the young or the old. */
  get names(): readonly FrameNames[] {
    return [this.first, this.#old, this.#young];
  }

  /** True, and remembered, when the frame counts; false for a copy. Stamps never fall. */
  admit(producer: number, sequence: number, stampMs: number): boolean {
    if (stampMs - this.#youngSinceMs >= law.dedupeMs) this.#beginYoung(stampMs);
    if (this.holds(producer, sequence, stampMs)) return false;
    this.#young.set(producer, sequence, stampMs);
    return true;
  }

  /** Takes over what was counted in the stretch just before this one, for copies that are yet to come. */
  continue(before: Dedupe): void {
    if (this.#youngSinceMs === -Infinity) {
      this.#young = before.#young;
      this.#old = before.#old;
      this.#youngSinceMs = before.#youngSinceMs;
      return;
    }
    const old = new FrameNames();
    for (const generation of [before.#old, before.#young, this.#old]) old.setAll(generation);
    this.#old = old;
  }

  /** True when a frame of that name was counted less than the span before `stampMs`. */
  holds(producer: number, sequence: number, stampMs: number): boolean {
    if (stampMs - this.#young.stampOf(producer, sequence) < law.dedupeMs) return true;
    if (!this.#old.isEmpty && stampMs - this.#old.stampOf(producer, sequence) < law.dedupeMs) return true;
    return this.#before?.holds(producer, sequence, stampMs) === true;
  }

  /** Those counted that a frame stamped at `stampMs` or later may be a copy of. */
  rangesAt(stampMs: number): FrameRanges {
    return FrameRanges.of([this.#old, this.#young], stampMs - law.dedupeMs);
  }

  #beginYoung(stampMs: number): void {
    if (this.#youngSinceMs !== -Infinity) {
      this.#old = this.#young;
      this.#young = new FrameNames();
    }
    this.#youngSinceMs = stampMs;
  }
}

/** Sequences of one block; a producer's follow each other, so that most are full. */
const BLOCK = 32;
/** As the heap of Node has them, maps' entries among them. */
const BLOCK_BYTES = 340;
const PRODUCER_BYTES = 420;
const EMPTY: readonly number[] = Array.from({ length: BLOCK }, () => -Infinity);

interface Producer {
  readonly id: number;
  readonly blocks: Map<number, number[]>;
  /** The block used last. */
  index: number;
  block: number[] | undefined;
}

/**
 * The stamps of frames by their names, producer and sequence (u32, or all as i32): 8 bytes each where sequences have no gap,
 * 24 to 48 for a producer's only frame, which lies apart until it has a second one.
 */
export class FrameNames {
  readonly #producers = new Map<number, Producer>();
  readonly #lone = new LoneFrames();
  #last: Producer | undefined;
  #bytes = 0;

  /** What they take in the heap, about. */
  get sizeBytes(): number {
    return this.#bytes + this.#lone.sizeBytes;
  }

  get isEmpty(): boolean {
    return this.#last === undefined && this.#lone.count === 0;
  }

  /** -Infinity where there is none. */
  stampOf(given: number, sequence: number): number {
    const producer = given | 0;
    const known = this.#last?.id === producer ? this.#last : this.#producers.get(producer);
    if (!known) {
      const slot = this.#lone.find(producer);
      return slot >= 0 && this.#lone.sequenceAt(slot) === (sequence | 0) ? this.#lone.stampAt(slot) : -Infinity;
    }
    this.#last = known;
    const index = sequence >>> 5;
    const block = known.index === index ? known.block : known.blocks.get(index);
    return block ? block[sequence & (BLOCK - 1)] : -Infinity;
  }

  set(given: number, sequence: number, stampMs: number): void {
    const producer = given | 0;
    const known = this.#last?.id === producer ? this.#last : this.#producers.get(producer);
    if (known) this.#put(known, sequence, stampMs);
    else if (Number.isNaN(stampMs) || this.#lone.find(producer) >= 0) this.#promote(producer, sequence, stampMs);
    else this.#lone.set(producer, sequence, stampMs);
  }

  /** Its first frame goes along; what is left of it apart is passed over from now on. */
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

  /** Whether `test` is true of one; it is asked until then. */
  some(test: (producer: number, sequence: number, stampMs: number) => boolean): boolean {
    for (const { id, blocks } of this.#producers.values())
      for (const [index, block] of blocks)
        for (let i = 0; i < BLOCK; i++)
          if (block[i] !== -Infinity && test(id, index * BLOCK + i, block[i])) return true;
    return this.#lone.some((producer, ...frame) => !this.#producers.has(producer) && test(producer, ...frame));
  }

  /** Takes over all of another's, whose stamps go before its own. */
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
 * Other for each process, so that nobody can choose producers that lie in one place. Drawn where the first table grows (0
 * until then): Workers refuse random numbers where a module begins.
 */
let seed = 0;

/**
 * The stamps of one frame each of many producers, 16 bytes a slot: half to two thirds of the slots are taken where there
 * are many.
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

  /** The slot of a producer; below 0 where it has none. */
  find(producer: number): number {
    if (this.count === 0) return -1;
    const slot = this.#slotOf(producer);
    return Number.isNaN(this.#stamps[slot]) ? -1 : slot;
  }

  /** As they were set, as i32. */
  sequenceAt(slot: number): number {
    return this.#sequences[slot];
  }

  stampAt(slot: number): number {
    return this.#stamps[slot];
  }

  /** `stampMs` is not NaN; in place of what the producer had. */
  set(producer: number, sequence: number, stampMs: number): void {
    if (3 * (this.count + 1) > 2 * this.#stamps.length) this.#grow();
    const slot = this.#slotOf(producer);
    if (Number.isNaN(this.#stamps[slot])) this.count++;
    this.#producers[slot] = producer;
    this.#sequences[slot] = sequence;
    this.#stamps[slot] = stampMs;
  }

  /** Whether `test` is true of one; it is asked until then. */
  some(test: (producer: number, sequence: number, stampMs: number) => boolean): boolean {
    for (let slot = 0; slot < this.#stamps.length; slot++) {
      const stampMs = this.#stamps[slot];
      if (!Number.isNaN(stampMs) && test(this.#producers[slot], this.#sequences[slot], stampMs)) return true;
    }
    return false;
  }

  /** Where a producer lies, or would: the next free slot. */
  #slotOf(producer: number): number {
    const mask = this.#stamps.length - 1;
    const id = producer | 0;
    let slot = Math.imul(id ^ (id >>> 15) ^ seed, 0x9e3779b1) >>> 7;
    for (slot &= mask; !Number.isNaN(this.#stamps[slot]) && this.#producers[slot] !== id; slot = (slot + 1) & mask);
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
      if (!Number.isNaN(stamps[slot])) this.set(producers[slot], sequences[slot], stamps[slot]);
  }
}
