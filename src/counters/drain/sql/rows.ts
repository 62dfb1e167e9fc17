import type { BucketName } from "../../../base/calendar.ts";
import { argumentError } from "../../../base/errors.ts";
import type { CounterShape } from "../../counter/table.ts";
import { checkStart, checkValues } from "./shape.ts";
import type { DrainBatch, DrainRow } from "./sink.ts";

/** A row for a statement. */
export interface KeyedRow {
  /** All columns of the primary key, separated by NUL, which no value contains. */
  readonly key: string;
  readonly bucket: BucketName;
  /** "2026-01-31T23:59:00", in UTC. */
  readonly start: string;
  readonly values: readonly string[];
  readonly count: bigint;
}

export const MAX_COUNT = 2n ** 63n - 1n;

/** Throws ARGUMENT for an invalid batch, before anything is sent. */
export function checkBatch(batch: DrainBatch): void {
  if (batch === null || typeof batch !== "object") throw argumentError("batch", batch, "a batch of a drain");
  if (!Array.isArray(batch.rows)) throw argumentError("batch.rows", batch.rows, "an array of rows");
  const least = { shard: 0, generation: 1, fence: 0 };
  for (const name of ["shard", "generation", "fence"] as const)
    if (!Number.isSafeInteger(batch[name]) || batch[name] < least[name])
      throw argumentError(`batch.${name}`, batch[name], `a whole number from ${least[name]}`);
  if (typeof batch.nonce !== "string" || !/^[\w-]{1,64}$/.test(batch.nonce))
    throw argumentError("batch.nonce", batch.nonce, "1 to 64 letters, digits, - and _");
  checkCount("batch.events", batch.events);
}

function checkCount(argument: string, count: bigint): void {
  if (typeof count !== "bigint" || count < 0n || count > MAX_COUNT)
    throw argumentError(argument, count, `a bigint from 0 to ${MAX_COUNT}`);
}

/**
 * The rows in ascending order of their keys, with equal keys merged. Transactions that lock rows in the same order wait
 * for each other, but do not deadlock.
 */
export function keyedRows(shape: CounterShape, rows: readonly DrainRow[]): KeyedRow[] {
  const text = startTexts();
  const keyed = rows.map((row) => keyedRow(shape, row, text));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const merged: KeyedRow[] = [];
  for (const row of keyed) {
    const last = merged[merged.length - 1];
    if (last?.key !== row.key) merged.push(row);
    else {
      const count = last.count + row.count;
      checkCount("count", count);
      merged[merged.length - 1] = { ...last, count };
    }
  }
  return merged;
}

function keyedRow(shape: CounterShape, row: DrainRow, text: (ms: number) => string) {
  if (row === null || typeof row !== "object")
    throw argumentError("batch.rows", row, "{ bucket, startMs, values, count }");
  const { bucket, startMs, values, count } = row;
  if (!shape.buckets.includes(bucket)) throw argumentError("bucket", bucket, `one of ${shape.buckets.join(", ")}`);
  if (!Array.isArray(values) || values.length !== shape.dimensions.length)
    throw argumentError("values", values, `${shape.dimensions.length} texts`);
  checkValues(shape, values);
  checkCount("count", count);
  const start = text(startMs);
  let key = `${bucket}\0${start}`;
  for (let i = 0; i < values.length; i++) key += `\0${values[i]}`;
  return { key, bucket, start, values, count };
}

/** Caches the texts of starts, because a batch has few different ones. */
function startTexts(): (ms: number) => string {
  const known = new Map<number, string>();
  return (ms) => {
    let text = known.get(ms);
    if (text === undefined) {
      checkStart(ms);
      text = secondText(ms);
      known.set(ms, text);
    }
    return text;
  };
}

/** "2026-01-31T23:59:00" */
export function secondText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
