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
export class LoneFrames {
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
