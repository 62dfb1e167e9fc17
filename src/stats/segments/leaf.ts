import type { Column } from "../../kernel/contract.ts";
import { divideDouble } from "../../kernel/double-double.ts";
import { Run } from "../runs/run.ts";

/** Events per leaf: a place in one fits a byte. */
export const LEAF = 256;

/**
 * At most 256 events in a row of which some are inside a window and some are not, or to which more will come. Their
 * order by value is kept, so that the run of those inside is one walk, whichever they are; new events are put into the
 * order where they belong. The run is the same object every time, made anew.
 */
export class Leaf {
  readonly #start: number;
  readonly #order = new Uint8Array(LEAF);
  #count = 0;
  readonly #run: Run;

  constructor(start: number, values: Column) {
    this.#start = start;
    this.#run = new Run(values instanceof Float32Array ? new Float32Array(LEAF) : new Float64Array(LEAF), true);
  }

  /** The events of `[start, end)` whose time is within the two, both included; undefined when there are none. */
  run(times: Uint32Array | Float64Array, values: Column, end: number, least: number, most: number): Run | undefined {
    const count = end - this.#start;
    for (let i = this.#count; i < count; i++) this.#insert(values, i);
    if (count > this.#count) this.#count = count;
    const length = this.#pick(times, values, least, most);
    if (length === 0) return undefined;
    this.#leaveNaN(length);
    summarize(this.#run);
    return this.#run;
  }

  /** Copies the values inside, in their order, into the run; answers how many. */
  #pick(times: Uint32Array | Float64Array, values: Column, least: number, most: number): number {
    const { sorted } = this.#run;
    const order = this.#order;
    const start = this.#start;
    let length = 0;
    for (let j = 0; j < this.#count; j++) {
      const i = start + order[j];
      const t = times[i];
      if (t >= least && t <= most) sorted[length++] = values[i];
    }
    return length;
  }

  #leaveNaN(count: number): void {
    const run = this.#run;
    let length = count;
    while (length > 0 && Number.isNaN(run.sorted[length - 1])) length--;
    run.count = count;
    run.nanCount = count - length;
    run.length = length;
  }

  #insert(values: Column, i: number): void {
    const order = this.#order;
    const start = this.#start;
    const value = values[start + i];
    let low = 0;
    let high = i;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isAbove(values[start + order[middle]], value)) high = middle;
      else low = middle + 1;
    }
    order.copyWithin(low + 1, low, i);
    order[low] = i;
  }
}

/** The order of the kernels' sort: -0 before +0, NaN behind all. */
function isAbove(a: number, b: number): boolean {
  if (a > b) return true;
  if (a < b) return false;
  if (a === b) return a === 0 && Object.is(b, -0) && Object.is(a, 0);
  return !Number.isNaN(b);
}

/** Few values in order need no kernel: a sum by TwoSum, then squares about the mean; infinities lie at the ends. */
function summarize(run: Run): void {
  const { sorted, length } = run;
  let from = 0;
  let to = length;
  while (from < to && sorted[from] === Number.NEGATIVE_INFINITY) from++;
  while (to > from && sorted[to - 1] === Number.POSITIVE_INFINITY) to--;
  run.negativeInfinityCount = from;
  run.positiveInfinityCount = length - to;
  run.finiteCount = to - from;
  run.min = length > 0 ? sorted[0] : Number.POSITIVE_INFINITY;
  run.max = length > 0 ? sorted[length - 1] : Number.NEGATIVE_INFINITY;
  let high = 0;
  let low = 0;
  for (let i = from; i < to; i++) {
    const x = sorted[i];
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

function squares(sorted: Column, from: number, to: number, mean: number): number {
  let even = 0;
  let odd = 0;
  let i = from;
  for (; i + 1 < to; i += 2) {
    const a = sorted[i] - mean;
    const b = sorted[i + 1] - mean;
    even += a * a;
    odd += b * b;
  }
  if (i < to) even += (sorted[i] - mean) ** 2;
  return even + odd;
}

/** Up to so many are quicker set one by one. */
const FEW = 64;
/** Half the range of u32: own times may lie before the first event of a segment. */
const HALF = 2 ** 31;

/**
 * Times of events in ms, 4 bytes each: u32 after `baseMs`, some 25 days to either side of the first one. Where one lies
 * further off, all become f64 with base 0, which holds any safe integer.
 */
export class EventTimes {
  baseMs = 0;
  ticks: Uint32Array | Float64Array;

  /** `capacity` events; the first one's time sets the base. */
  constructor(capacity: number) {
    this.ticks = new Uint32Array(capacity);
  }

  at(i: number): number {
    return this.baseMs + this.ticks[i];
  }

  /** Begins anew around `ms`. */
  begin(ms: number): void {
    this.baseMs = ms - HALF;
    if (!Number.isSafeInteger(this.baseMs)) this.#widen();
  }

  /** False when all became f64 for its sake. */
  set(i: number, ms: number): boolean {
    const tick = ms - this.baseMs;
    if (tick >= 0 && tick < 2 * HALF) {
      this.ticks[i] = tick;
      return true;
    }
    const fits = this.#fits(ms);
    this.ticks[i] = ms - this.baseMs;
    return fits;
  }

  /** One time for `[from, to)`; as `set`. */
  fill(from: number, to: number, ms: number): boolean {
    const fits = this.#fits(ms);
    const tick = ms - this.baseMs;
    const { ticks } = this;
    if (to - from > FEW) ticks.fill(tick, from, to);
    else for (let i = from; i < to; i++) ticks[i] = tick;
    return fits;
  }

  /** A copy of the first `count` with room for `capacity`. */
  resized(count: number, capacity: number): EventTimes {
    const times = new EventTimes(0);
    times.baseMs = this.baseMs;
    times.ticks = this.ticks instanceof Uint32Array ? new Uint32Array(capacity) : new Float64Array(capacity);
    times.ticks.set(this.ticks.subarray(0, count));
    return times;
  }

  #fits(ms: number): boolean {
    const tick = ms - this.baseMs;
    if ((tick >= 0 && tick < 2 * HALF) || this.ticks instanceof Float64Array) return true;
    this.#widen();
    return false;
  }

  #widen(): void {
    const { ticks, baseMs } = this;
    this.ticks = Float64Array.from(ticks, (tick) => baseMs + tick);
    this.baseMs = 0;
  }
}
