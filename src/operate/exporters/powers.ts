import type { PowerCounts } from "./metric.ts";

/** Smaller values count as zeros. The same as in Prometheus' own clients. */
export const ZERO_THRESHOLD = 2 ** -128;
/** Boundaries are 9 % apart. */
const FINEST = 3;
/** The exponent above that of all finite numbers. */
const OVERFLOW = 1024;
const MAX_INDEXES = 160;

/** Counts of values by size. If they need too many indexes, boundaries become further apart, and stay so. */
export class Powers implements PowerCounts {
  schema = FINEST;
  zeros = 0;
  readonly positive = new Map<number, number>();
  readonly negative = new Map<number, number>();

  /** NaN counts as infinity. */
  add(value: number): void {
    const size = Math.abs(value);
    if (size <= ZERO_THRESHOLD) this.zeros++;
    else this.#put(value < 0 ? this.negative : this.positive, indexOf(size), FINEST, 1);
  }

  merge(other: PowerCounts): void {
    this.coarsen(other.schema);
    this.zeros += other.zeros;
    for (const side of ["positive", "negative"] as const)
      for (const [index, count] of other[side]) this.#put(this[side], index, other.schema, count);
  }

  /** Joins neighbours until the schema is at most this one. */
  coarsen(schema: number): void {
    for (; this.schema > schema; this.schema--)
      for (const side of [this.positive, this.negative]) {
        const finer = [...side];
        side.clear();
        for (const [index, count] of finer) addTo(side, Math.ceil(index / 2), count);
      }
  }

  /** The schema of the index is at least this one. */
  #put(side: Map<number, number>, index: number, schema: number, count: number): void {
    addTo(side, Math.ceil(index / 2 ** (schema - this.schema)), count);
    while (this.positive.size + this.negative.size > MAX_INDEXES) this.coarsen(this.schema - 1);
  }
}

function addTo(side: Map<number, number>, index: number, count: number): void {
  side.set(index, (side.get(index) ?? 0) + count);
}

function indexOf(size: number): number {
  if (!(size < Number.POSITIVE_INFINITY)) return OVERFLOW * 2 ** FINEST + 1;
  const index = Math.ceil(Math.log2(size) * 2 ** FINEST);
  // The logarithm is rounded, also down to a boundary.
  return size > 2 ** (index / 2 ** FINEST) ? index + 1 : index;
}
