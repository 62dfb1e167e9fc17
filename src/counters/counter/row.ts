import type { BucketName } from "./buckets.ts";
import type { CountRow } from "./table.ts";

/** A row with its values in the order of the dimensions. */
export type OrderedRow = Omit<CountRow, "values"> & { readonly values: readonly string[] };

/** The number of events with these values in the bucket that starts at `startMs`, ms since 1970. */
export class CounterRow<Dimension extends string = string, Count extends number | bigint = number> {
  readonly bucket: BucketName;
  readonly startMs: number;
  /** One string for each dimension, as passed to `add`. */
  readonly values: Readonly<Record<Dimension, string>>;
  readonly count: Count;

  constructor(dimensions: readonly Dimension[], row: Omit<OrderedRow, "count"> & { readonly count: Count }) {
    const { bucket, startMs, values, count } = row;
    this.bucket = bucket;
    this.startMs = startMs;
    this.values = Object.fromEntries(dimensions.map((name, i) => [name, values[i]])) as Record<Dimension, string>;
    this.count = count;
  }

  /** For JSON.stringify, which refuses a bigint: a count up to 2^53 - 1 is a number, a larger one decimal text. */
  toJSON(): {
    bucket: BucketName;
    startMs: number;
    values: Readonly<Record<Dimension, string>>;
    count: number | string;
  } {
    const { bucket, startMs, values, count } = this;
    return { bucket, startMs, values, count: jsonCount(count) };
  }
}

/** A count for JSON: a number up to 2^53 - 1, or decimal text above it. */
export function jsonCount(count: number | bigint): number | string {
  return count <= Number.MAX_SAFE_INTEGER ? Number(count) : `${count}`;
}
