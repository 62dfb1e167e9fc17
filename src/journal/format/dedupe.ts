import { FrameNames } from "./frame-names.ts";
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
