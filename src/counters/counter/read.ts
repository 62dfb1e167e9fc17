import type { BucketName, Calendar } from "../../base/calendar.ts";
import { didYouMean } from "../../base/did-you-mean.ts";
import { argumentError, checkKnown, corruptError, OrielError, show } from "../../base/errors.ts";
import { instantMs } from "../../base/time.ts";
import { checkLayout, inItsZone, type Shaped } from "./agreement.ts";
import { readField } from "./format/layout.ts";
import { type DamagedField, readShard, type ShardCounts } from "./read-shard.ts";
import {
  CounterRow,
  type CounterShape,
  type CountRow,
  type CountTable,
  isOfOtherShard,
  type LedgerRow,
  type OrderedRow,
  type RowsQuery,
} from "./table.ts";

const MINUTE_MS = 60_000;

/** Options of `Counters.read`: the bucket, the time, and the values of dimensions. */
export interface CountersQuery<Dimension extends string = string> {
  /** Default: the finest bucket. */
  bucket?: BucketName | undefined;
  /** Only buckets that start at this time or later. Default: all. */
  from?: number | Date | undefined;
  /** Only buckets that start before this time. Default: all. */
  to?: number | Date | undefined;
  /** Only rows with these values. */
  values?: Readonly<Partial<Record<Dimension, string>>> | undefined;
  /** The table to which the counts are drained. Its counts are included. */
  table?: CountTable | undefined;
  /**
   * True: counts are bigints, exact up to 2^63 - 1. Default false: they are numbers, and a larger count is TOO_LARGE.
   */
  bigint?: boolean | undefined;
}

export interface ReadTarget extends Shaped {
  shape: CounterShape;
  calendar: Calendar;
}

/** Throws ARGUMENT. */
export function rowsQuery(shape: CounterShape, query: CountersQuery): RowsQuery {
  checkKnown(query, ["bucket", "from", "to", "values", "table", "bigint"]);
  const { bucket = shape.buckets[0]!, from, to, values = {}, table, bigint = false } = query;
  if (table !== undefined && typeof table?.read !== "function")
    throw argumentError("table", table, "a sink of oriel/sql");
  if (typeof bigint !== "boolean") throw argumentError("bigint", bigint, "true or false");
  if (!shape.buckets.includes(bucket)) throw argumentError("bucket", bucket, `one of ${shape.buckets.join(", ")}`);
  if (values === null || typeof values !== "object")
    throw argumentError("values", values, "an object of values by dimension");
  for (const [name, value] of Object.entries(values)) {
    if (!shape.dimensions.includes(name))
      throw argumentError(
        "dimension of values",
        name,
        `one of ${shape.dimensions.join(", ")}${didYouMean(name, shape.dimensions)}`,
      );
    if (typeof value !== "string") throw argumentError(name, value, "a string");
  }
  const fromMs = from === undefined ? undefined : instantMs("from", from);
  const toMs = to === undefined ? undefined : instantMs("to", to);
  return { bucket, fromMs, toMs, values: values as Readonly<Record<string, string>> };
}

/**
 * Reads the store first, then the table. Generations that the table has are not taken from the store. So each event
 * that was acknowledged before counts once, even if a drain runs at the same time.
 */
export async function readRows(
  target: ReadTarget,
  query: RowsQuery,
  { table, bigint }: Pick<CountersQuery, "table" | "bigint">,
): Promise<CounterRow<string, number | bigint>[]> {
  const { store, keys, shape } = target;
  const shards = await inItsZone(target, async () => {
    const reads = keys.map((key) => readShard(store, key, target.layout, "whole"));
    const [shards] = await Promise.all([Promise.all(reads), checkLayout(target)]);
    return shards;
  });
  const inTable = await table?.read(shape, query);
  const ledger = new Map(inTable?.ledger.map((row) => [row.shard, checkedLedger(shape.name, row)]));
  const sums = new Map<string, OrderedRow>();
  const put = (row: OrderedRow) => {
    const key = `${row.startMs}|${row.values.map(encodeURIComponent).join("|")}`;
    sums.set(key, { ...row, count: row.count + (sums.get(key)?.count ?? 0n) });
  };
  for (const row of inTable?.rows ?? []) put(orderedRow(shape, row));
  for (const [shard, read] of shards.entries()) {
    const { counts, acknowledged, damaged } = read;
    const { generation: last = 0, nonce = "" } = ledger.get(shard) ?? {};
    // The table was read later and may have more. Then the store has acknowledged it by now.
    const hasDrained = async () =>
      isDrained(read, last, nonce) ||
      isDrained(await readShard(store, keys[shard]!, target.layout, "whole"), last, nonce);
    if (table && (last < acknowledged || !(await hasDrained())))
      throw new OrielError(
        "DIVERGED",
        `shard ${shard} of ${shape.name} was drained up to generation ${acknowledged}, and the table has ${last}`,
      );
    if (table && isOfOtherShard(read, ledger.get(shard)))
      throw new OrielError(
        "DIVERGED",
        `shard ${shard} of ${shape.name} was not drained into this table: ${FED_BY_ANOTHER}`,
      );
    const unread = damaged.filter(({ field, generation }) => !field.startsWith("!") && generation > last);
    if (unread.length > 0) throw damagedRows(keys[shard]!, unread);
    for (const [generation, rows] of counts)
      if (generation > last) for (const [field, count] of rows) rowOf(target, query, field, count, put);
  }
  const sorted = [...sums.values()].sort(byStartAndValues);
  return bigint
    ? sorted.map((row) => new CounterRow(shape.dimensions, row))
    : rowsWithNumbers(shape.dimensions, sorted);
}

/** Throws TOO_LARGE where a count is above 2^53 - 1. */
function rowsWithNumbers(dimensions: readonly string[], rows: readonly OrderedRow[]): CounterRow[] {
  return rows.map((row) => {
    const count = Number(row.count);
    if (Number.isSafeInteger(count)) return new CounterRow(dimensions, { ...row, count });
    const values = dimensions.map((name, i) => `${name} ${show(row.values[i])}`).join(", ");
    throw new OrielError(
      "TOO_LARGE",
      `the count of ${values} in the ${row.bucket} from ${new Date(row.startMs).toISOString()} is ${row.count}, above ` +
        "2^53 - 1, the bound of numbers that are exact; read with bigint: true",
    );
  });
}

/** Converts a row of a table. Throws CORRUPT if one of its values is not a string. */
function orderedRow({ name, dimensions }: CounterShape, row: CountRow): OrderedRow {
  const { bucket, startMs, count } = row;
  const values = dimensions.map((dimension) => {
    const value = Object.hasOwn(row.values ?? {}, dimension) ? row.values[dimension] : undefined;
    if (typeof value === "string") return value;
    throw new OrielError(
      "CORRUPT",
      `a row of the table of counter ${show(name)} is damaged: bucket ${bucket}, start ${startMs}, ` +
        `its value of ${dimension} is ${show(value)}`,
    );
  });
  return { bucket, startMs, values, count };
}

/** The error names the first field. */
export function damagedRows(key: string, damaged: readonly DamagedField[]): OrielError {
  const [{ field, value }] = damaged as readonly [DamagedField];
  const more = damaged.length > 1 ? `, and ${damaged.length - 1} more` : "";
  return corruptError(key, `its field ${show(field)} with the value ${show(value)} is not a count${more}`);
}

/** What can be the reason if the ledger's last generation is of another shard. */
const FED_BY_ANOTHER = "another counter is drained into the table, or Redis lost this one's state";

/** Whether the table's generation came from this store, and not from an earlier state of it that was lost. */
function isDrained({ acknowledged, nonces }: ShardCounts, generation: number, nonce: string): boolean {
  return acknowledged >= generation || nonces.get(generation) === nonce;
}

function checkedLedger(name: string, row: LedgerRow): LedgerRow {
  if (row.damaged !== undefined) throw new OrielError("CORRUPT", damagedLedger(name, row));
  return row;
}

/** Describes a damaged row of the ledger. */
export function damagedLedger(name: string, { shard, damaged }: LedgerRow): string {
  return `the row of the ledger of counter ${show(name)}, shard ${shard}, is damaged: ${damaged}`;
}

function rowOf(
  { shape, calendar }: ReadTarget,
  query: RowsQuery,
  field: string,
  count: bigint,
  put: (row: OrderedRow) => void,
) {
  const { startMinute, values } = readField(field, shape.dimensions.length);
  const { bucket, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = query;
  const startMs = calendar.startOf(bucket, startMinute) * MINUTE_MS;
  if (startMs < fromMs || startMs >= toMs) return;
  // Iterate over the given names: any object has inherited names such as `constructor`.
  for (const [dimension, wanted] of Object.entries(query.values ?? {}))
    if (values[shape.dimensions.indexOf(dimension)] !== wanted) return;
  put({ bucket, startMs, values, count });
}

function byStartAndValues(a: OrderedRow, b: OrderedRow): number {
  if (a.startMs !== b.startMs) return a.startMs - b.startMs;
  for (const [i, value] of a.values.entries()) if (value !== b.values[i]) return value < b.values[i]! ? -1 : 1;
  return 0;
}
