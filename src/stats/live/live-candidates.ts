import type { Bracket } from "./live-bracket.ts";

/**
 * The numbers of a window between two bounds, counted by value, and how many lie below: the order statistics around one
 * rank, brought up to date by one step per number that enters or leaves.
 *
 *   slots    0     1     2     3     4     5
 *   values   1.0   1.0   2.5   2.5   3.0   3.5    ascending; of equal ones only the first may have a count
 *   counts   2     0     1     0     4     0      0: a free slot, between any two values at first
 *                        ^ cursor; `before`: how many numbers of the window lie in slots before it, or below all slots
 *
 * A number outside the bounds is at most counted. One inside is found by bisection and counted in its slot, or put into
 * the next free one, so that little is moved. A rank moves by one or two from one question to the next, and the cursor
 * follows it slot by slot. -0 and +0 are one value.
 */
export class Candidates {
  /** The order statistics found by the last `seek`. */
  value = Number.NaN;
  next = Number.NaN;
  /** Where the rank last sought was when it was not found: -1 below the bounds, 1 above, 0 nowhere yet. */
  missed = 0;
  /** NaNs added and not removed. */
  nanCount = 0;
  #values = new Float64Array(0);
  #counts = new Int32Array(0);
  #size = 0;
  /** Not loaded: all that comes and goes is let pass. */
  #low = -Infinity;
  #high = Infinity;
  #cursor = 0;
  #before = 0;
  #isLoaded = false;
  /** Slots moved since free ones were last spread. */
  #shifted = 0;
  /** `before` of the last seek; -1 when anything between the bounds has changed since. */
  #soughtBefore = -1;

  /** Whether a rank sought last is still where it was found: as many numbers lie before it, and none moved around it. */
  get isUnmoved(): boolean {
    return this.#before === this.#soughtBefore;
  }

  /** Starts anew with what lies between other bounds. */
  load(bracket: Bracket): void {
    const { low, high, below, lowCount, highCount, between } = bracket;
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
      for (end = i + 1; end < between.length && between[end] === between[i]; ) end++;
      this.#append(between[i], end - i);
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

  /** Takes out a number that was loaded or added. */
  remove(value: number): void {
    if (value < this.#low) this.#before--;
    else if (!(value > this.#high)) this.#takeOut(value);
  }

  /** Finds the values of 0-based ranks k and, unless `isLast`, k + 1; false when the bounds do not hold both. */
  seek(k: number, isLast: boolean): boolean {
    if (!this.#isLoaded) return false;
    const counts = this.#counts;
    const size = this.#size;
    let slot = this.#cursor;
    let before = this.#before;
    while (k < before && slot > 0) before -= counts[--slot];
    while (slot < size && k >= before + counts[slot]) before += counts[slot++];
    this.#cursor = slot;
    this.#before = before;
    this.#soughtBefore = before;
    this.missed = k < before ? -1 : 1;
    if (slot === size || k < before) return false;
    this.value = this.#values[slot];
    if (isLast || k + 1 < before + counts[slot]) {
      this.next = this.value;
      return true;
    }
    do slot++;
    while (slot < size && counts[slot] === 0);
    if (slot === size) return false;
    this.next = this.#values[slot];
    return true;
  }

  /** No room is left: the bounds have to be drawn closer. */
  #unload(): void {
    this.#isLoaded = false;
    this.missed = 0;
    this.#low = -Infinity;
    this.#high = Infinity;
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

  #takeOut(value: number): void {
    this.#soughtBefore = -1;
    if (Number.isNaN(value)) this.nanCount--;
    else if (this.#isLoaded) {
      const slot = this.#slotOf(value);
      this.#counts[slot]--;
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
      counts[slot]++;
      if (slot < this.#cursor) this.#before++;
    } else if (slot > 0 && counts[slot - 1] === 0) {
      values[slot - 1] = value;
      counts[slot - 1] = 1;
      if (slot - 1 < this.#cursor) this.#before++;
    } else this.#shiftIn(slot, value);
  }

  /** Puts the value into `slot`; what is there, and behind it up to the next free slot, moves on by one. */
  #shiftIn(slot: number, value: number): void {
    const values = this.#values;
    const counts = this.#counts;
    let free = slot;
    while (free < this.#size && counts[free] > 0) free++;
    if (free === values.length) {
      this.#spread();
      this.#insert(value);
      return;
    }
    if (free === this.#size) this.#size++;
    for (let i = free; i > slot; i--) {
      values[i] = values[i - 1];
      counts[i] = counts[i - 1];
    }
    values[slot] = value;
    counts[slot] = 1;
    if (slot < this.#cursor) this.#before += this.#cursor > free ? 1 : 1 - counts[this.#cursor];
    this.#shifted += free - slot;
    if (this.#shifted > this.#size) this.#spread();
  }

  /** Puts a free slot behind every value again; no more than the shifts since the last time cost. */
  #spread(): void {
    const values = this.#values;
    const counts = this.#counts;
    let live = 0;
    let cursor = 0;
    for (let i = 0; i < this.#size; i++) {
      if (i === this.#cursor) cursor = live;
      if (counts[i] === 0) continue;
      values[live] = values[i];
      counts[live++] = counts[i];
    }
    if (this.#cursor >= this.#size) cursor = live;
    if (2 * live >= values.length) {
      this.#unload();
      return;
    }
    for (let i = live - 1; i >= 0; i--) {
      values[2 * i] = values[2 * i + 1] = values[i];
      counts[2 * i] = counts[i];
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
      if (values[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
