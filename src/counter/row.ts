import type { BucketName } from "./buckets.ts";
import type { CountRow } from "./table.ts";

/** A row with its values in the order of the dimensions. */
export type OrderedRow = Omit<CountRow, "values"> & { readonly values: readonly string[] };

/** How many events of these values there are in the bucket that starts at `startMs`, ms since 1970. */
export class CounterRow<Dimension extends string = string> implements CountRow<Dimension> {
  readonly bucket: BucketName;
  readonly startMs: number;
  /** One string for each dimension, as `add` takes them. */
  readonly values: Readonly<Record<Dimension, string>>;
  readonly count: bigint;

  constructor(dimensions: readonly Dimension[], { bucket, startMs, values, count }: OrderedRow) {
    this.bucket = bucket;
    this.startMs = startMs;
    this.values = Object.fromEntries(dimensions.map((name, i) => [name, values[i]])) as Record<Dimension, string>;
    this.count = count;
  }

  /** For JSON.stringify, which refuses a bigint: a number up to 2^53 - 1, above it decimal text. */
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

/** A count as JSON can keep it: a number up to 2^53 - 1, above it decimal text. */
export function jsonCount(count: bigint): number | string {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : `${count}`;
}
