import { argumentError } from "../../base/errors.ts";
import type { HistogramCounts, Sample } from "./metric.ts";
import { Powers } from "./powers.ts";

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

/** Counts of values. Those that are not finite are counted, and are not in the sum. */
export class Histogram implements HistogramCounts {
  readonly boundaries: readonly number[];
  readonly isAsked: boolean;
  readonly counts: Float64Array;
  readonly powers = new Powers();
  sum = 0;

  constructor({ boundaries, isAsked }: Pick<HistogramCounts, "boundaries" | "isAsked">) {
    this.boundaries = boundaries;
    this.isAsked = isAsked;
    this.counts = new Float64Array(boundaries.length + 1);
  }

  add(value: number): void {
    this.counts[this.#bucketOf(value)]!++;
    this.powers.add(value);
    if (Number.isFinite(value)) this.sum += value;
  }

  /** Exact if each boundary here is one of the other. */
  merge({ boundaries, counts, powers, sum }: HistogramCounts): void {
    for (let i = 0; i < counts.length; i++) this.counts[this.#bucketOf(boundaries[i] ?? Number.NaN)]! += counts[i]!;
    this.powers.merge(powers);
    this.sum += sum;
  }

  #bucketOf(value: number): number {
    let [from, to] = [0, this.boundaries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      // NaN is below no boundary.
      if (value <= this.boundaries[middle]!) to = middle;
      else from = middle + 1;
    }
    return from;
  }
}

/** The values of both, by the boundaries that both have. */
export function merged(one: HistogramCounts, other: HistogramCounts): Histogram {
  const boundaries = one.boundaries.filter((each) => other.boundaries.includes(each));
  const both = new Histogram({ boundaries, isAsked: one.isAsked || other.isAsked });
  both.merge(one);
  both.merge(other);
  return both;
}

/** Histograms by one label. */
export class Histograms {
  readonly #label: (name: string) => Record<string, string>;
  readonly #about: Pick<HistogramCounts, "boundaries" | "isAsked">;
  readonly #byName = new Map<string, Histogram>();

  constructor(boundaries: readonly number[], label: (name: string) => Record<string, string> = (name) => ({ name })) {
    // Those of oriel are these arrays themselves.
    this.#about = { boundaries, isAsked: boundaries !== SECONDS && boundaries !== ANY_UNIT };
    this.#label = label;
  }

  of(name: string): Histogram {
    let histogram = this.#byName.get(name);
    if (!histogram) {
      histogram = new Histogram(this.#about);
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
    return [...this.#byName].map(([name, histogram]) => ({
      value: histogram.counts.reduce((sum, count) => sum + count),
      labels: this.#label(name),
      histogram,
    }));
  }
}
