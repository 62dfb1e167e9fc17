import { CounterRow } from "../../../src/counters/counter/table.ts";
import type { CounterShape, DrainBatch, DrainRow } from "../../../src/entries/sql.ts";

export const MINUTE = Date.UTC(2026, 0, 31, 23, 59);
/** A row of a minute of January, unless said otherwise. */
export const row = (values: string[], count: bigint, startMs = MINUTE, bucket: DrainRow["bucket"] = "minute") => ({
  bucket,
  startMs,
  values,
  count,
});

/** The same rows as a reader gets them. */
export const asRead = ({ dimensions }: CounterShape, rows: readonly DrainRow[]) =>
  rows.map((one) => new CounterRow(dimensions, one));

/** A batch of generation 1, whose events are its minutes'. */
export function batch(rows: DrainRow[], more: Partial<DrainBatch> = {}): DrainBatch {
  const events = rows.reduce((sum, { bucket, count }) => (bucket === "minute" ? sum + count : sum), 0n);
  return { shard: 0, generation: 1, nonce: "a1", fence: 7, events, rows, ...more };
}

let shapes = 0;

/** A counter that no other test has. */
export function freshShape(dimensions: readonly string[] = ["site", "lane"]): CounterShape {
  return { name: `counter${++shapes}`, dimensions, buckets: ["minute", "hour", "day"] };
}
