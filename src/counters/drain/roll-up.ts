import { readField, valuesText } from "../counter/format/field.ts";
import type { ReadPlace } from "../counter/read.ts";
import type { DrainRow } from "./sql/sink.ts";

const MINUTE_MS = 60_000;

/** Computes the rows of all buckets from the counts of the finest one. The rows of each bucket have the same total. */
export function rollUp({ shape, calendar }: ReadPlace, counts: ReadonlyMap<string, bigint>): DrainRow[] {
  const rows = new Map<string, { row: Omit<DrainRow, "count">; count: bigint }>();
  for (const [field, count] of counts) {
    const { startMinute, values } = readField(field, shape.dimensions.length);
    // A row without values of added dimensions equals one with empty values.
    const text = valuesText(values);
    for (const bucket of shape.buckets) {
      const start = calendar.startOf(bucket, startMinute);
      const key = `${bucket}|${start}${text}`;
      const known = rows.get(key);
      if (known) known.count += count;
      else rows.set(key, { row: { bucket, startMs: start * MINUTE_MS, values }, count });
    }
  }
  return [...rows.values()].map(({ row, count }) => ({ ...row, count }));
}
