import { law } from "./law.ts";

/**
 * Which frames were counted lately: a copy of one within `law.dedupeMs` of journal time is not counted again.
 * Two generations, each one span long: what is looked up is in one of them, what is older than both is forgotten.
 */
export class Dedupe {
  #young = new Map<number, Map<number, number>>();
  #old = new Map<number, Map<number, number>>();
  #youngSinceMs = -Infinity;

  /** True, and remembered, when the frame counts; false for a copy. Stamps never fall. */
  admit(producer: number, sequence: number, stampMs: number): boolean {
    if (stampMs - this.#youngSinceMs >= law.dedupeMs) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSinceMs = stampMs;
    }
    if (this.holds(producer, sequence, stampMs)) return false;
    const sequences = this.#young.get(producer);
    if (sequences) sequences.set(sequence, stampMs);
    else this.#young.set(producer, new Map([[sequence, stampMs]]));
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
    for (const generation of [before.#young, before.#old])
      for (const [producer, sequences] of generation)
        this.#old.set(producer, new Map([...sequences, ...(this.#old.get(producer) ?? [])]));
  }

  /** True when a frame of that name was counted less than the span before `stampMs`. */
  holds(producer: number, sequence: number, stampMs: number): boolean {
    const counted = this.#young.get(producer)?.get(sequence) ?? this.#old.get(producer)?.get(sequence);
    return counted !== undefined && stampMs - counted < law.dedupeMs;
  }
}
