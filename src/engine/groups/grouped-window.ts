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
    const total = ends[rowCount]!;
    const slices: Slices = {
      columns: this.#runs,
      ends,
      ...{ runs: new Uint32Array(total), groups: new Uint32Array(total) },
      ...{ from: new Uint32Array(total), to: new Uint32Array(total) },
    };
    const next = ends.slice(0, rowCount);
    for (let run = 0; run < this.#runs.length; run++) {
      const { numbers, starts } = this.#runs[run]!;
      for (let i = 0; i < numbers.length; i++) {
        const row = places[numbers[i]!]!;
        if (row < 0) continue;
        const s = next[row]!++;
        slices.runs[s] = run;
        slices.groups[s] = i;
        slices.from[s] = starts[i]!;
        slices.to[s] = starts[i + 1]!;
      }
    }
    return slices;
  }
}

/**
 * The values of rows. Slice s, from `ends[row]` to before `ends[row + 1]`, is group `groups[s]` of column `runs[s]`: its values `from[s]`
 * to before `to[s]`.
 */
interface Slices {
  columns: readonly GroupedRun[];
  ends: Uint32Array;
  runs: Uint32Array;
  groups: Uint32Array;
  from: Uint32Array;
  to: Uint32Array;
}

/** A rank with at most as many values beyond it is found among the ends of the slices. */
const FEW_BEYOND = 48;
const edge = /* @__PURE__ */ new Float64Array(FEW_BEYOND + 2);
/** Of fewer values all are candidates. */
const FEW = 1024;
let candidates = /* @__PURE__ */ new Float64Array(FEW);

/** The aggregates of a row: of some groups, each in several sorted slices. */
export class RowAggregates implements WindowAggregates {
  count = 0;
  nanCount = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  readonly #slices: Slices;
  readonly #first: number;
  readonly #end: number;
  #positive = 0;
  #negative = 0;
  #sumHigh = 0;
  #sumLow = 0;
  #m2 = 0;

  constructor(slices: Slices, row: number) {
    const { columns, ends, runs, groups } = slices;
    this.#slices = slices;
    this.#first = ends[row]!;
    this.#end = ends[row + 1]!;
    for (let s = this.#first; s < this.#end; s++) this.#addSlice(s);
    const mean = meanOf(this.#sumHigh, this.#sumLow, this.#finiteCount);
    for (let s = this.#first; s < this.#end; s++) {
      const { moments } = columns[runs[s]!]!;
      const at = groups[s]! * MOMENT.size;
      const count = moments[at + MOMENT.count]!;
      if (count > 0) this.#m2 += moments[at + MOMENT.m2]! + count * (moments[at + MOMENT.mean]! - mean) ** 2;
    }
  }

  #addSlice(s: number): void {
    const { columns, runs, groups, from, to } = this.#slices;
    const { values, moments, areFinite } = columns[runs[s]!]!;
    const first = from[s]!;
    this.count += to[s]! - first;
    if (!areFinite) {
      while (to[s]! > first && Number.isNaN(values[to[s]! - 1])) {
        this.nanCount++;
        to[s]!--;
      }
      for (let at = first; at < to[s]! && values[at] === Number.NEGATIVE_INFINITY; at++) this.#negative++;
      for (let at = to[s]! - 1; at >= first && values[at] === Number.POSITIVE_INFINITY; at--) this.#positive++;
    }
    const end = to[s]!;
    if (end === first) return;
    this.min = Math.min(this.min, values[first]!);
    this.max = Math.max(this.max, values[end - 1]!);
    const begin = groups[s]! * MOMENT.size;
    const its = moments[begin + MOMENT.sumHigh]!;
    const high = this.#sumHigh + its;
    const added = high - this.#sumHigh;
    this.#sumLow += this.#sumHigh - (high - added) + (its - added) + moments[begin + MOMENT.sumLow]!;
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
    const [low, next] =
      this.#nearEdge(k) ?? this.#nearSample(k) ?? this.#select(k, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)!;
    if ((low !== 0 && next !== 0) || this.min > 0 || Object.is(this.min, 0)) return [low, next];
    // Comparisons treat -0 and +0 as equal.
    const negative = this.#countBelowZero();
    const signed = (value: number, rank: number) => (value !== 0 ? value : rank < negative ? -0 : 0);
    return [signed(low, k), signed(next, Math.min(k + 1, this.validCount - 1))];
  }

  /** Of a rank near the largest value: keeps the largest values in ascending order. Undefined if the rank is farther. */
  #nearEdge(k: number): [number, number] | undefined {
    const wanted = this.validCount - k;
    if (wanted > FEW_BEYOND) return undefined;
    const { columns, runs, from, to } = this.#slices;
    let kept = 0;
    for (let s = this.#first; s < this.#end; s++) {
      const { values } = columns[runs[s]!]!;
      const first = from[s]!;
      for (let at = to[s]! - 1; at >= first; at--) {
        const value = values[at]!;
        if (kept === wanted && value <= edge[0]!) break;
        let place = 0;
        if (kept < wanted)
          for (place = kept++; place > 0 && edge[place - 1]! > value; place--) edge[place] = edge[place - 1]!;
        // A full list drops its smallest value.
        else for (; place + 1 < kept && edge[place + 1]! < value; place++) edge[place] = edge[place + 1]!;
        edge[place] = value;
      }
    }
    return [edge[0]!, edge[Math.min(1, kept - 1)]!];
  }

  /** Among many values, those near the rank, as its place in the longest slice shows it. Undefined if it is not near. */
  #nearSample(k: number): [number, number] | undefined {
    const n = this.validCount;
    if (n <= FEW) return undefined;
    const { columns, runs, from, to } = this.#slices;
    let longest = this.#first;
    for (let s = this.#first; s < this.#end; s++) if (to[s]! - from[s]! > to[longest]! - from[longest]!) longest = s;
    const sample = columns[runs[longest]!]!.values.subarray(from[longest]!, to[longest]!);
    const share = k / n;
    // Four deviations of a rank in a sample.
    const around = 4 * Math.sqrt((share * (1 - share)) / sample.length) + 2 / sample.length;
    const low = sample[Math.floor((share - around) * sample.length)] ?? Number.NEGATIVE_INFINITY;
    const high = sample[Math.ceil((share + around) * sample.length)] ?? Number.POSITIVE_INFINITY;
    return this.#select(k, low, high);
  }

  /** The values at the ranks k and k + 1 (k again at the end) if both are from `low` to `high`. */
  #select(k: number, low: number, high: number): [number, number] | undefined {
    const { columns, runs, from, to } = this.#slices;
    let below = 0;
    let count = 0;
    for (let s = this.#first; s < this.#end; s++) {
      const { values } = columns[runs[s]!]!;
      const first = low === Number.NEGATIVE_INFINITY ? from[s]! : lowerBound(values, low, from[s], to[s]);
      const end = high === Number.POSITIVE_INFINITY ? to[s]! : upperBound(values, high, first, to[s]);
      below += first - from[s]!;
      if (count + end - first > candidates.length) candidates = grown(count + end - first);
      for (let at = first; at < end; at++) candidates[count++] = values[at]!;
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

  #countBelowZero(): number {
    const { columns, runs, from, to } = this.#slices;
    let count = 0;
    for (let s = this.#first; s < this.#end; s++)
      count += firstNotNegative(columns[runs[s]!]!.values, from[s]!, to[s]!) - from[s]!;
    return count;
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
