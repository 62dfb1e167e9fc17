import { meanOf } from "../kernel/double-double.ts";
import { withInfinities } from "../kernel/moments.ts";
import { lowerBound, type Run, upperBound } from "../stats/runs/run.ts";
import { quickselect } from "../stats/runs/select-runs.ts";
import type { WindowAggregates } from "../stats/window-stats.ts";
import { type GroupedRun, groupedRun, MOMENT } from "./grouped-run.ts";

/** The events of one window, by group. It does not change with the copy that it came from. */
export class GroupedWindow {
  readonly runs: GroupedRun[] = [];
  /** The largest number of a group. */
  maxNumber = 0;

  /** Adds the sorted pairs of a part of the window. */
  add(run: Run): void {
    const grouped = groupedRun(run);
    this.runs.push(grouped);
    this.maxNumber = Math.max(this.maxNumber, grouped.numbers.at(-1)!);
  }

  /** Whether an event has a number above `low`, up to `high`. */
  hasBetween(low: number, high: number): boolean {
    // Most often no number is above.
    return this.runs.some(
      ({ numbers }) => numbers.at(-1)! > low && numbers.some((number) => number > low && number <= high),
    );
  }

  /** The number of events of each group. */
  counts(): Uint32Array {
    const counts = new Uint32Array(this.maxNumber + 1);
    for (const { numbers, starts } of this.runs)
      for (let i = 0; i < numbers.length; i++) counts[numbers[i]!]! += starts[i + 1]! - starts[i]!;
    return counts;
  }
}

/** A window of one journal with the row of each group, by its number: from 0 on, or -1 for none. */
export interface PlacedWindow {
  events: GroupedWindow;
  places: Int32Array;
}

/** The aggregates of each row. */
export function rowAggregates(windows: readonly PlacedWindow[], rowCount: number): RowAggregates[] {
  const slices = new Slices(windows, rowCount);
  return Array.from({ length: rowCount }, (_, row) => new RowAggregates(slices, row));
}

/**
 * The values of rows, and their moments. Slice s, from `ends[row]` to before `ends[row + 1]`, is values `from[s]` to before `to[s]` of
 * column `runs[s]`, without NaN. Moments are added run by run, because memory is read quickest in its order.
 */
class Slices {
  readonly columns: readonly GroupedRun[];
  readonly ends: Uint32Array;
  readonly runs: Uint32Array;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly moments: RowMoments[];

  /** Cost: some steps for each group of each run. */
  constructor(windows: readonly PlacedWindow[], rowCount: number) {
    const placed = windows.flatMap(({ events, places }) => events.runs.map((run) => [run, places] as const));
    this.columns = placed.map(([run]) => run);
    this.ends = new Uint32Array(rowCount + 1);
    this.moments = Array.from({ length: rowCount }, () => new RowMoments());
    for (const [{ numbers }, places] of placed)
      for (let i = 0; i < numbers.length; i++) {
        const row = places[numbers[i]!]!;
        if (row >= 0) this.ends[row + 1]!++;
      }
    for (let row = 0; row < rowCount; row++) this.ends[row + 1]! += this.ends[row]!;
    const total = this.ends[rowCount]!;
    this.runs = new Uint32Array(total);
    this.from = new Uint32Array(total);
    this.to = new Uint32Array(total);
    const next = this.ends.slice(0, rowCount);
    for (const [column, [run, places]] of placed.entries()) {
      const { numbers, starts } = run;
      for (let i = 0; i < numbers.length; i++) {
        const row = places[numbers[i]!]!;
        if (row < 0) continue;
        const s = next[row]!++;
        this.runs[s] = column;
        this.from[s] = starts[i]!;
        this.to[s] = this.moments[row]!.add(run, i);
      }
    }
    for (const row of this.moments) row.mean = meanOf(row.sumHigh, row.sumLow, row.finiteCount);
    for (const [{ numbers, moments }, places] of placed)
      for (let i = 0; i < numbers.length; i++) {
        const row = places[numbers[i]!]!;
        if (row >= 0) this.moments[row]!.addDeviations(moments, i * MOMENT.size);
      }
  }
}

/** The counts and moments of the values of one row. */
class RowMoments {
  count = 0;
  nanCount = 0;
  positive = 0;
  negative = 0;
  finiteCount = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  sumHigh = 0;
  sumLow = 0;
  /** Of the finite values. It is known once all are added. */
  mean = 0;
  m2 = 0;

  /** Adds group `i` of a run. Returns the end of its values without NaN. */
  add({ values, starts, moments, areFinite }: GroupedRun, i: number): number {
    const first = starts[i]!;
    let end = starts[i + 1]!;
    this.count += end - first;
    if (!areFinite) {
      while (end > first && Number.isNaN(values[end - 1])) {
        this.nanCount++;
        end--;
      }
      for (let at = first; at < end && values[at] === Number.NEGATIVE_INFINITY; at++) this.negative++;
      for (let at = end - 1; at >= first && values[at] === Number.POSITIVE_INFINITY; at--) this.positive++;
    }
    if (end === first) return end;
    this.min = Math.min(this.min, values[first]!);
    this.max = Math.max(this.max, values[end - 1]!);
    const begin = i * MOMENT.size;
    const its = moments[begin + MOMENT.sumHigh]!;
    const high = this.sumHigh + its;
    const added = high - this.sumHigh;
    this.sumLow += this.sumHigh - (high - added) + (its - added) + moments[begin + MOMENT.sumLow]!;
    this.sumHigh = high;
    this.finiteCount += moments[begin + MOMENT.count]!;
    return end;
  }

  /** Adds the squared distances from the mean of the row. */
  addDeviations(moments: Float64Array, begin: number): void {
    const count = moments[begin + MOMENT.count]!;
    if (count > 0) this.m2 += moments[begin + MOMENT.m2]! + count * (moments[begin + MOMENT.mean]! - this.mean) ** 2;
  }
}

/** A rank with at most as many values beyond it is found among the ends of the slices. */
const FEW_BEYOND = 48;
const edge = /* @__PURE__ */ new Float64Array(FEW_BEYOND + 2);
/** Of fewer values all are candidates. */
const FEW = 1024;
let candidates = /* @__PURE__ */ new Float64Array(FEW);

/** The aggregates of a row: of some groups, each in several sorted slices. */
export class RowAggregates implements WindowAggregates {
  readonly count: number;
  readonly nanCount: number;
  readonly validCount: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly mean: number;
  readonly #moments: RowMoments;
  readonly #slices: Slices;
  readonly #first: number;
  readonly #end: number;

  constructor(slices: Slices, row: number) {
    const moments = slices.moments[row]!;
    const { count, nanCount, min, max, sumHigh, sumLow, mean, positive, negative } = moments;
    this.count = count;
    this.nanCount = nanCount;
    this.validCount = count - nanCount;
    this.min = min;
    this.max = max;
    this.sum = withInfinities(sumHigh + sumLow, positive, negative);
    this.mean = withInfinities(mean, positive, negative);
    this.#moments = moments;
    this.#slices = slices;
    this.#first = slices.ends[row]!;
    this.#end = slices.ends[row + 1]!;
  }

  variance(ddof: number): number {
    const { finiteCount, m2 } = this.#moments;
    return finiteCount === this.validCount && finiteCount > ddof ? m2 / (finiteCount - ddof) : Number.NaN;
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
