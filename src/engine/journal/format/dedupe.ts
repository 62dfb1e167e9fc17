import type { SealedNames } from "../sealed/names.ts";
import { constants } from "./constants.ts";
import { FrameNames } from "./frame-names.ts";

/**
 * The recently counted frames. A copy of one within `constants.dedupeMs` of journal time is not counted again. There are two
 * generations, each as long as this time, so a relevant frame is in one of them. Older frames are dropped.
 */
export class Dedupe {
  #young = new FrameNames();
  #old = new FrameNames();
  #youngSinceMs = Number.NEGATIVE_INFINITY;

  /** The frames of the first generation. It is complete when a later generation begins. */
  readonly first = this.#young;
  /** The last frames of each sealed chunk. A later chunk may have copies of them. */
  #sealed: readonly SealedNames[] = [];

  /** Approximate size of all names in the heap, and of `others`, each counted once. */
  sizeBytesWith(others: FrameNames): number {
    const [first, old, young] = [this.first, this.#old, this.#young];
    let bytes = old.sizeBytes + young.sizeBytes;
    if (first !== old && first !== young) bytes += first.sizeBytes;
    if (others !== first && others !== old && others !== young) bytes += others.sizeBytes;
    for (const names of this.#sealed) bytes += names.sizeBytes;
    return bytes;
  }

  /** Returns true and remembers the frame if it counts; false for a copy. Stamps never fall. */
  admit(producer: number, sequence: number, stampMs: number): boolean {
    if (stampMs - this.#youngSinceMs >= constants.dedupeMs) this.#beginYoung(stampMs);
    if (this.holds(producer, sequence, stampMs)) return false;
    this.#young.set(producer, sequence, stampMs);
    return true;
  }

  /** Adds the names of a sealed chunk, which is later than all frames so far and ends at `stampMs`. */
  addSealed(names: SealedNames, stampMs: number): void {
    this.#sealed = [...this.#sealed.filter((each) => each.reach(stampMs)), names];
  }

  /** Adds the frames that were counted just before this part of the journal. This part may have copies of them. */
  continue(before: Dedupe): void {
    this.#sealed = [...before.#sealed, ...this.#sealed];
    if (this.#youngSinceMs === Number.NEGATIVE_INFINITY) {
      this.#young = before.#young;
      this.#old = before.#old;
      this.#youngSinceMs = before.#youngSinceMs;
      return;
    }
    const old = new FrameNames();
    for (const generation of [before.#old, before.#young, this.#old]) old.setAll(generation);
    this.#old = old;
  }

  /** Whether a frame with this name was counted within `constants.dedupeMs` before `stampMs`. */
  holds(producer: number, sequence: number, stampMs: number): boolean {
    if (stampMs - this.#young.stampOf(producer, sequence) < constants.dedupeMs) return true;
    if (!this.#old.isEmpty && stampMs - this.#old.stampOf(producer, sequence) < constants.dedupeMs) return true;
    return this.#sealed.length > 0 && this.#sealed.some((each) => each.holds(producer, sequence, stampMs));
  }

  #beginYoung(stampMs: number): void {
    if (this.#youngSinceMs !== Number.NEGATIVE_INFINITY) {
      this.#old = this.#young;
      this.#young = new FrameNames();
    }
    this.#youngSinceMs = stampMs;
    if (this.#sealed.length > 0) this.#sealed = this.#sealed.filter((each) => each.reach(stampMs));
  }
}
