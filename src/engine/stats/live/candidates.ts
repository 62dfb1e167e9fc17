import type { ValueRange } from "./value-range.ts";

/**
 * The numbers of a window between two bounds, counted by value, and the number of those below the bounds. It answers a
 * rank near the cursor, and is updated in one step for each number that enters or leaves the window.
 *
 *   slots    0     1     2     3     4     5
 *   values   1.0   1.0   2.5   2.5   3.0   3.5    ascending · only the first of equal values may have a count
 *   counts   2     0     1     0     4     0      0: a free slot · at first, every second slot is free
 *                        ^ cursor · `before` = numbers of the window in slots before the cursor, or below the bounds
 *
 * A number below the bounds changes only `before`. A number inside is found by binary search. It is counted in its slot,
 * or goes into the next free slot, so that few slots move. From one query to the next a rank moves by one or two, and
 * the cursor follows it slot by slot. -0 and +0 are one value.
 */
export class Candidates {
  /** The values at the two ranks that the last `seek` found. */
  value = Number.NaN;
  next = Number.NaN;
  /** The side of the bounds on which the last rank was, if `seek` returned false: -1 below, 1 above, 0 if not loaded. */
  missed = 0;
  /** Number of NaN in the window. */
  nanCount = 0;
  #values = new Float64Array(0);
  #counts = new Int32Array(0);
  #size = 0;
  /** The bounds. Before the first `load` they are infinite, and numbers are ignored. */
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  #cursor = 0;
  #before = 0;
  #isLoaded = false;
  /** Number of slots moved since the last `#spread`. */
  #shifted = 0;
  /** `before` of the last `seek`; -1 if a number inside the bounds has changed since. */
  #soughtBefore = -1;

  /** True if the same ranks still have the values of the last `seek`. */
  get isUnmoved(): boolean {
    return this.#before === this.#soughtBefore;
  }

  /** Replaces the bounds and everything between them. */
  load({ low, high, below, lowCount, highCount, between }: ValueRange): void {
    const slots = 2 * (between.length + 2);
    if (slots > this.#values.length) {
      this.#values = new Float64Array(slots + (slots >> 1));
      this.#counts = new Int32Array(slots + (slots >> 1));
    }
    this.#low = low;
    this.#high = high;
    this.#size = 0;
    this.#append(low, lowCount);
    for (let i = 0, end = 0; i < between.length; i = end) {
      const value = between[i]!;
      for (end = i + 1; end < between.length && between[end] === value; ) end++;
      this.#append(value, end - i);
    }
    this.#append(high, highCount);
    this.#cursor = 0;
    this.#before = below;
    this.#soughtBefore = -1;
    this.#shifted = 0;
    this.#isLoaded = true;
  }

  add(value: number): void {
    if (value < this.#low) this.#before++;
    else if (!(value > this.#high)) this.#insert(value);
  }

  /** Removes a number that was loaded or added. */
  remove(value: number): void {
    if (value < this.#low) this.#before--;
    else if (!(value > this.#high)) this.#delete(value);
  }

  /** Finds the values at 0-based ranks k and, unless `isLast`, k + 1. Returns false if one is outside the bounds. */
  seek(k: number, isLast: boolean): boolean {
    if (!this.#isLoaded) return false;
    const counts = this.#counts;
    const size = this.#size;
    let slot = this.#cursor;
    let before = this.#before;
    while (k < before && slot > 0) before -= counts[--slot]!;
    while (slot < size && k >= before + counts[slot]!) before += counts[slot++]!;
    this.#cursor = slot;
    this.#before = before;
    this.#soughtBefore = before;
    this.missed = k < before ? -1 : 1;
    if (slot === size || k < before) return false;
    this.value = this.#values[slot]!;
    if (isLast || k + 1 < before + counts[slot]!) {
      this.next = this.value;
      return true;
    }
    do slot++;
    while (slot < size && counts[slot] === 0);
    if (slot === size) return false;
    this.next = this.#values[slot]!;
    return true;
  }

  /** Drops everything, because no room is left. The next `load` must have closer bounds. */
  #unload(): void {
    this.#isLoaded = false;
    this.missed = 0;
    this.#low = Number.NEGATIVE_INFINITY;
    this.#high = Number.POSITIVE_INFINITY;
    this.#size = 0;
    this.#before = 0;
  }

  #append(value: number, count: number): void {
    if (count === 0) return;
    this.#values[this.#size] = value;
    this.#counts[this.#size++] = count;
    this.#values[this.#size] = value;
    this.#counts[this.#size++] = 0;
  }

  #delete(value: number): void {
    this.#soughtBefore = -1;
    if (Number.isNaN(value)) this.nanCount--;
    else if (this.#isLoaded) {
      const slot = this.#slotOf(value);
      this.#counts[slot]!--;
      if (slot < this.#cursor) this.#before--;
    }
  }

  #insert(value: number): void {
    this.#soughtBefore = -1;
    if (Number.isNaN(value)) this.nanCount++;
    if (Number.isNaN(value) || !this.#isLoaded) return;
    const values = this.#values;
    const counts = this.#counts;
    const slot = this.#slotOf(value);
    if (slot < this.#size && values[slot] === value) {
      counts[slot]!++;
      if (slot < this.#cursor) this.#before++;
    } else if (slot > 0 && counts[slot - 1] === 0) {
      values[slot - 1] = value;
      counts[slot - 1] = 1;
      if (slot - 1 < this.#cursor) this.#before++;
    } else this.#shiftIn(slot, value);
  }

  /** Puts the value into `slot`. The slots from there up to the next free one move up by one. */
  #shiftIn(slot: number, value: number): void {
    const values = this.#values;
    const counts = this.#counts;
    let free = slot;
    while (free < this.#size && counts[free]! > 0) free++;
    if (free === values.length) {
      this.#spread();
      this.#insert(value);
      return;
    }
    if (free === this.#size) this.#size++;
    for (let i = free; i > slot; i--) {
      values[i] = values[i - 1]!;
      counts[i] = counts[i - 1]!;
    }
    values[slot] = value;
    counts[slot] = 1;
    if (slot < this.#cursor) this.#before += this.#cursor > free ? 1 : 1 - counts[this.#cursor]!;
    this.#shifted += free - slot;
    if (this.#shifted > this.#size) this.#spread();
  }

  /** Puts a free slot after every value again. Its cost is at most that of the shifts since the last time. */
  #spread(): void {
    const values = this.#values;
    const counts = this.#counts;
    let live = 0;
    let cursor = 0;
    for (let i = 0; i < this.#size; i++) {
      if (i === this.#cursor) cursor = live;
      if (counts[i] === 0) continue;
      values[live] = values[i]!;
      counts[live++] = counts[i]!;
    }
    if (this.#cursor >= this.#size) cursor = live;
    if (2 * live >= values.length) {
      this.#unload();
      return;
    }
    for (let i = live - 1; i >= 0; i--) {
      values[2 * i] = values[2 * i + 1] = values[i]!;
      counts[2 * i] = counts[i]!;
      counts[2 * i + 1] = 0;
    }
    this.#size = 2 * live;
    this.#cursor = 2 * cursor;
    this.#shifted = 0;
  }

  /** The first slot whose value is not below `value`. */
  #slotOf(value: number): number {
    const values = this.#values;
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (values[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
