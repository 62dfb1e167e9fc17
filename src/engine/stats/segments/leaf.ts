import type { Column } from "../../kernel/contract.ts";
import { divideDouble } from "../../kernel/double-double.ts";
import { ColumnRun, type Run } from "../runs/run.ts";

/** Events per leaf. The index of an event in its leaf fits a byte. */
export const EVENTS_PER_LEAF = 256;

/**
 * At most 256 consecutive events, for a leaf that lies at a window's edge or still grows. It keeps the order of its
 * events by value, and inserts new events into that order. The sorted run of any subset is then one walk.
 * Each query gets a run of its own, which stays as it is while later queries read the same leaf.
 */
export class Leaf {
  readonly #start: number;
  readonly #order = new Uint8Array(EVENTS_PER_LEAF);
  #count = 0;

  constructor(start: number) {
    this.#start = start;
  }

  /** The run of the events before `end` with first <= time <= last; undefined if there are none. */
  run(times: Uint32Array | Float64Array, values: Column, end: number, first: number, last: number): Run | undefined {
    const count = end - this.#start;
    for (let i = this.#count; i < count; i++) this.#insert(values, i);
    if (count > this.#count) this.#count = count;
    const length = this.#pick(times, values, first, last);
    return length === 0 ? undefined : runOf(values instanceof Float32Array ? picked32 : picked64, length);
  }

  /** Copies the values inside, sorted, into the scratch memory. Returns their number. */
  #pick(times: Uint32Array | Float64Array, values: Column, first: number, last: number): number {
    const sorted = values instanceof Float32Array ? picked32 : picked64;
    const order = this.#order;
    const start = this.#start;
    let length = 0;
    for (let j = 0; j < this.#count; j++) {
      const i = start + order[j]!;
      const t = times[i]!;
      if (t >= first && t <= last) sorted[length++] = values[i]!;
    }
    return length;
  }

  #insert(values: Column, i: number): void {
    const order = this.#order;
    const start = this.#start;
    const value = values[start + i]!;
    let low = 0;
    let high = i;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isAbove(values[start + order[middle]!]!, value)) high = middle;
      else low = middle + 1;
    }
    order.copyWithin(low + 1, low, i);
    order[low] = i;
  }
}

/** Scratch memory of one `pick`, which the run then copies. */
const picked32 = new Float32Array(EVENTS_PER_LEAF);
const picked64 = new Float64Array(EVENTS_PER_LEAF);

/** The run of the first `count` values, a copy. NaN is sorted last. */
function runOf(picked: Column, count: number): Run {
  let length = count;
  while (length > 0 && Number.isNaN(picked[length - 1]!)) length--;
  const run = new ColumnRun(picked.slice(0, length), true);
  run.count = count;
  run.nanCount = count - length;
  run.length = length;
  summarize(run);
  return run;
}

/** The order of the kernels' `sort`: -0 before +0, NaN last. */
function isAbove(a: number, b: number): boolean {
  if (a > b) return true;
  if (a < b) return false;
  if (a === b) return a === 0 && Object.is(b, -0) && Object.is(a, 0);
  return !Number.isNaN(b);
}

/**
 * Fills in the statistics of a sorted run. The sum is compensated by TwoSum (Knuth). For at most 256 sorted values, this
 * is faster than a call of a kernel.
 */
function summarize(run: ColumnRun): void {
  const { sorted, length } = run;
  let from = 0;
  let to = length;
  while (from < to && sorted[from] === Number.NEGATIVE_INFINITY) from++;
  while (to > from && sorted[to - 1] === Number.POSITIVE_INFINITY) to--;
  run.negativeInfinityCount = from;
  run.positiveInfinityCount = length - to;
  run.finiteCount = to - from;
  run.min = length > 0 ? sorted[0]! : Number.POSITIVE_INFINITY;
  run.max = length > 0 ? sorted[length - 1]! : Number.NEGATIVE_INFINITY;
  let high = 0;
  let low = 0;
  for (let i = from; i < to; i++) {
    const x = sorted[i]!;
    const sum = high + x;
    const part = sum - high;
    low += high - (sum - part) + (x - part);
    high = sum;
  }
  run.sumHigh = high;
  run.sumLow = low;
  [run.meanHigh, run.meanLow] = to > from ? divideDouble(high, low, to - from) : [0, 0];
  run.m2 = squares(sorted, from, to, run.meanHigh);
}

/** The sum of squared distances from `mean`. Two sums, because the processor can then add both at once. */
function squares(sorted: Column, from: number, to: number, mean: number): number {
  let even = 0;
  let odd = 0;
  let i = from;
  for (; i + 1 < to; i += 2) {
    const a = sorted[i]! - mean;
    const b = sorted[i + 1]! - mean;
    even += a * a;
    odd += b * b;
  }
  if (i < to) even += (sorted[i]! - mean) ** 2;
  return even + odd;
}
