import { argumentError } from "../../base/errors.ts";
import type { Sample } from "./metric.ts";

/** 1, 2 and 5 of each power of ten. */
function steps(from: number, to: number): number[] {
  const all: number[] = [];
  for (let power = from; power <= to; power++) for (const step of [1, 2, 5]) all.push(Number(`${step}e${power}`));
  return all;
}

/** From 1 ms to 500 s. */
export const SECONDS: readonly number[] = steps(-3, 2);
/** From 0.001 to 500 000, for values of any unit. */
export const ANY_UNIT: readonly number[] = steps(-3, 5);

const MAX_BUCKETS = 200;

/** Throws ARGUMENT. */
export function checkBuckets(buckets: unknown): readonly number[] {
  const isRising = (all: readonly number[]) => all.every((each, i) => i === 0 || each > all[i - 1]!);
  if (
    !Array.isArray(buckets) ||
    buckets.length === 0 ||
    buckets.length > MAX_BUCKETS ||
    !buckets.every((each) => Number.isFinite(each)) ||
    !isRising(buckets)
  )
    throw argumentError("buckets", buckets, `an array of 1 to ${MAX_BUCKETS} rising numbers`);
  return [...(buckets as number[])];
}

/** Counts of values by upper boundary. Values that are not finite are counted, and are not in the sum. */
export class Histogram {
  readonly #boundaries: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(boundaries: readonly number[]) {
    this.#boundaries = boundaries;
    this.#counts = new Float64Array(boundaries.length + 1);
  }

  add(value: number): void {
    let [from, to] = [0, this.#boundaries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      // NaN is below no boundary.
      if (value <= this.#boundaries[middle]!) to = middle;
      else from = middle + 1;
    }
    this.#counts[from]!++;
    if (Number.isFinite(value)) this.#sum += value;
  }

  merge(other: Histogram): void {
    for (const [i, count] of other.#counts.entries()) this.#counts[i]! += count;
    this.#sum += other.#sum;
  }

  samples(labels: Record<string, string>): Sample[] {
    let count = 0;
    const buckets = [...this.#counts].map((each, i): Sample => {
      count += each;
      return { part: "bucket", labels: { ...labels, le: `${this.#boundaries[i] ?? "+Inf"}` }, value: count };
    });
    return [...buckets, { part: "sum", labels, value: this.#sum }, { part: "count", labels, value: count }];
  }
}

/** Histograms by one label. */
export class Histograms {
  readonly #label: (name: string) => Record<string, string>;
  readonly #boundaries: readonly number[];
  readonly #byName = new Map<string, Histogram>();

  constructor(boundaries: readonly number[], label: (name: string) => Record<string, string> = (name) => ({ name })) {
    this.#boundaries = boundaries;
    this.#label = label;
  }

  of(name: string): Histogram {
    let histogram = this.#byName.get(name);
    if (!histogram) {
      histogram = new Histogram(this.#boundaries);
      this.#byName.set(name, histogram);
    }
    return histogram;
  }

  /** Adds the values of a name to another one, and forgets the name. */
  move(name: string, to: string): void {
    const histogram = this.#byName.get(name);
    if (name === to || !histogram) return;
    this.#byName.delete(name);
    this.of(to).merge(histogram);
  }

  samples(): Sample[] {
    return [...this.#byName].flatMap(([name, histogram]) => histogram.samples(this.#label(name)));
  }
}
