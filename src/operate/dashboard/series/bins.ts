import type { Column } from "../../../engine/kernel/contract.ts";

/** A wider range than this is cut into bins of equal ratio. */
const LOG_RATIO = 20;

/** Cuts a range of values into bins. The last bin contains its upper edge, too. */
export class Bins {
  readonly edges: readonly number[];
  readonly isLog: boolean;
  readonly #origin: number;
  readonly #scale: number;

  constructor(min: number, max: number, count: number) {
    this.isLog = min > 0 && max / min > LOG_RATIO;
    const [low, high] = this.isLog ? [Math.log(min), Math.log(max)] : [min, max];
    const width = high > low ? (high - low) / count : 1;
    this.#origin = low;
    this.#scale = 1 / width;
    const edgeAt = (i: number) => (this.isLog ? Math.exp(low + i * width) : low + i * width);
    // The outer edges are the values themselves, without the rounding of exp and log.
    this.edges = Array.from({ length: count + 1 }, (_, i) =>
      i === 0 ? min : i === count && high > low ? max : edgeAt(i),
    );
  }

  get count(): number {
    return this.edges.length - 1;
  }

  /** Number of values in each bin. Values outside the range, and NaN, count in no bin. */
  counts(values: Column): number[] {
    const counts = new Array<number>(this.count).fill(0);
    const [min, max] = [this.edges[0]!, this.edges.at(-1)!];
    for (const value of values) {
      if (!(value >= min && value <= max)) continue;
      const at = Math.floor(((this.isLog ? Math.log(value) : value) - this.#origin) * this.#scale);
      counts[Math.min(Math.max(at, 0), counts.length - 1)]!++;
    }
    return counts;
  }
}

/** Bins from the least to the largest finite value; undefined if there is none. */
export function binsOf(columns: readonly Column[], count: number): Bins | undefined {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const values of columns)
    for (const value of values)
      if (value - value === 0) {
        if (value < min) min = value;
        if (value > max) max = value;
      }
  return min <= max ? new Bins(min, max, count) : undefined;
}
