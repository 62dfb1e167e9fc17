import { meanOf } from "../kernel/double-double.ts";
import { withInfinities } from "../kernel/moments.ts";
import { lowerBound, type Run, upperBound } from "../stats/runs/run.ts";
import { quickselect } from "../stats/runs/select-runs.ts";
import type { WindowAggregates } from "../stats/window-stats.ts";
import { type GroupedRun, groupedRun, MOMENT } from "./grouped-run.ts";

/** The events of one window, by group. It does not change with the copy that it came from. */
export class GroupedWindow {
  readonly #runs: GroupedRun[] = [];
  /** The largest number of a group. */
  maxNumber = 0;

  /** Adds the sorted pairs of a part of the window. */
  add(run: Run): void {
    const grouped = groupedRun(run);
    this.#runs.push(grouped);
    this.maxNumber = Math.max(this.maxNumber, grouped.numbers.at(-1)!);
  }

  /** The number of events of each group. */
  counts(): Uint32Array {
    const counts = new Uint32Array(this.maxNumber + 1);
    for (const { numbers, starts } of this.#runs)
      for (let i = 0; i < numbers.length; i++) counts[numbers[i]!]! += starts[i + 1]! - starts[i]!;
    return counts;
  }

  /** The aggregates of each row. `places` has the row of each group by its number, from 0 to below `rowCount`, or -1 for none. */
  rows(places: Int32Array, rowCount: number): RowAggregates[] {
    const slices = this.#slicesOf(places, rowCount);
    return Array.from({ length: rowCount }, (_, row) => new RowAggregates(slices, row));
  }

  /** Sorts the values of groups into rows. Cost: one step for each group of each run. */
  #slicesOf(places: Int32Array, rowCount: number): Slices {
    const ends = new Uint32Array(rowCount + 1);
    for (const { numbers } of this.#runs)
      for (let i = 0; i < numbers.length; i++) {
        const row = places[numbers[i]!]!;
        if (row >= 0) ends[row + 1]!++;
      }
    for (let row = 0; row < rowCount; row++) ends[row + 1]! += ends[row]!;
    const [runs, groups] = [new Uint32Array(ends[rowCount]!), new Uint32Array(ends[rowCount]!)];
    const next = ends.slice(0, rowCount);
    for (let run = 0; run < this.#runs.length; run++) {
      const { numbers } = this.#runs[run]!;
      for (let i = 0; i < numbers.length; i++) {
        const row = places[numbers[i]!]!;
        if (row < 0) continue;
        const at = next[row]!++;
        runs[at] = run;
        groups[at] = i;
      }
    }
    return { columns: this.#runs, ends, runs, groups };
  }
}

/** The values of rows: slice s, from `ends[row]` to before `ends[row + 1]`, is group `groups[s]` of column `runs[s]`. */
interface Slices {
  columns: readonly GroupedRun[];
  ends: Uint32Array;
  runs: Uint32Array;
  groups: Uint32Array;
}

/** Of fewer values all are candidates. */
const FEW = 1024;
let candidates = new Float64Array(FEW);

/** The aggregates of a row: of some groups, each in several sorted slices. */
export class RowAggregates implements WindowAggregates {
  count = 0;
  nanCount = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  readonly #columns: Float32Array[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  #positive = 0;
  #negative = 0;
  #sumHigh = 0;
  #sumLow = 0;
  #m2 = 0;

  constructor({ columns, ends, runs, groups }: Slices, row: number) {
    for (let s = ends[row]!; s < ends[row + 1]!; s++) this.#addSlice(columns[runs[s]!]!, groups[s]!);
    const mean = meanOf(this.#sumHigh, this.#sumLow, this.#finiteCount);
    for (let s = ends[row]!; s < ends[row + 1]!; s++) {
      const { moments } = columns[runs[s]!]!;
      const at = groups[s]! * MOMENT.size;
      const count = moments[at + MOMENT.count]!;
      if (count > 0) this.#m2 += moments[at + MOMENT.m2]! + count * (moments[at + MOMENT.mean]! - mean) ** 2;
    }
  }

  #addSlice({ values, starts, moments, areFinite }: GroupedRun, i: number): void {
    const from = starts[i]!;
    let to = starts[i + 1]!;
    this.count += to - from;
    if (!areFinite) {
      while (to > from && Number.isNaN(values[to - 1])) {
        this.nanCount++;
        to--;
      }
      for (let at = from; at < to && values[at] === Number.NEGATIVE_INFINITY; at++) this.#negative++;
      for (let at = to - 1; at >= from && values[at] === Number.POSITIVE_INFINITY; at--) this.#positive++;
    }
    if (to === from) return;
    this.#columns.push(values);
    this.#from.push(from);
    this.#to.push(to);
    this.min = Math.min(this.min, values[from]!);
    this.max = Math.max(this.max, values[to - 1]!);
    const its = moments[i * MOMENT.size + MOMENT.sumHigh]!;
    const high = this.#sumHigh + its;
    const added = high - this.#sumHigh;
    const lost = this.#sumHigh - (high - added) + (its - added);
    this.#sumLow += lost + moments[i * MOMENT.size + MOMENT.sumLow]!;
    this.#sumHigh = high;
  }

  get validCount(): number {
    return this.count - this.nanCount;
  }

  get #finiteCount(): number {
    return this.validCount - this.#positive - this.#negative;
  }

  get sum(): number {
    return withInfinities(this.#sumHigh + this.#sumLow, this.#positive, this.#negative);
  }

  get mean(): number {
    return withInfinities(meanOf(this.#sumHigh, this.#sumLow, this.#finiteCount), this.#positive, this.#negative);
  }

  variance(ddof: number): number {
    const freedom = this.#finiteCount - ddof;
    return this.#finiteCount === this.validCount && freedom > 0 ? this.#m2 / freedom : Number.NaN;
  }

  valuesAt(k: number): [number, number] {
    const [low, next] = this.#found(k) ?? this.#select(k, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)!;
    if ((low !== 0 && next !== 0) || this.min > 0 || Object.is(this.min, 0)) return [low, next];
    // Comparisons treat -0 and +0 as equal.
    const negative = this.#countBelow((values, from, to) => firstNotNegative(values, from, to));
    const signed = (value: number, rank: number) => (value !== 0 ? value : rank < negative ? -0 : 0);
    return [signed(low, k), signed(next, Math.min(k + 1, this.validCount - 1))];
  }

  /** Among many values, those near the rank, as its place in the longest slice shows it. Undefined if it is not near. */
  #found(k: number): [number, number] | undefined {
    const n = this.validCount;
    if (n <= FEW) return undefined;
    let longest = 0;
    for (let i = 1; i < this.#to.length; i++) if (this.#lengthOf(i) > this.#lengthOf(longest)) longest = i;
    const sample = this.#columns[longest]!.subarray(this.#from[longest]!, this.#to[longest]!);
    const share = k / n;
    // Four deviations of a rank in a sample.
    const around = 4 * Math.sqrt((share * (1 - share)) / sample.length) + 2 / sample.length;
    const low = sample[Math.floor((share - around) * sample.length)] ?? Number.NEGATIVE_INFINITY;
    const high = sample[Math.ceil((share + around) * sample.length)] ?? Number.POSITIVE_INFINITY;
    return this.#select(k, low, high);
  }

  #lengthOf(i: number): number {
    return this.#to[i]! - this.#from[i]!;
  }

  #countBelow(boundOf: (values: Float32Array, from: number, to: number) => number): number {
    let count = 0;
    for (let i = 0; i < this.#to.length; i++)
      count += boundOf(this.#columns[i]!, this.#from[i]!, this.#to[i]!) - this.#from[i]!;
    return count;
  }

  /** The values at the ranks k and k + 1 (k again at the end) if both are from `low` to `high`. */
  #select(k: number, low: number, high: number): [number, number] | undefined {
    let below = 0;
    let count = 0;
    for (let i = 0; i < this.#to.length; i++) {
      const values = this.#columns[i]!;
      const from = lowerBound(values, low, this.#from[i]!, this.#to[i]!);
      const to = upperBound(values, high, from, this.#to[i]!);
      below += from - this.#from[i]!;
      if (count + to - from > candidates.length) candidates = grown(count + to - from);
      for (let at = from; at < to; at++) candidates[count++] = values[at]!;
    }
    const rank = k - below;
    const isLast = k === this.validCount - 1;
    if (rank < 0 || rank + (isLast ? 0 : 1) >= count) return undefined;
    const value = quickselect(candidates, rank, count);
    if (isLast) return [value, value];
    let next = candidates[rank + 1]!;
    for (let at = rank + 2; at < count; at++) if (candidates[at]! < next) next = candidates[at]!;
    return [value, next];
  }
}

function grown(count: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * count);
  larger.set(candidates);
  return larger;
}

function firstNotNegative(values: Float32Array, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < 0 || Object.is(values[middle], -0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
