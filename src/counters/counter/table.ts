import type { BucketName } from "../../base/calendar.ts";

/** The name, dimensions and buckets of a counter, for which a table is created. */
export interface CounterShape<Dimension extends string = string> {
  readonly name: string;
  readonly dimensions: readonly Dimension[];
  /** The number of added dimensions, which are the last ones. Default 0. */
  readonly added?: number;
  readonly buckets: readonly BucketName[];
}

/** The number of events with these values in the bucket that starts at `startMs`, ms since 1970. */
export interface CountRow<Dimension extends string = string> {
  readonly bucket: BucketName;
  readonly startMs: number;
  /** One string for each dimension, by its name. */
  readonly values: Readonly<Record<Dimension, string>>;
  readonly count: bigint;
}

/** The rows that a sink reads from its table. Authors of sinks receive it. */
export interface RowsQuery<Dimension extends string = string> {
  readonly bucket: BucketName;
  /** Only buckets that start in this half-open interval, ms since 1970. Default: all. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Only rows with these values. */
  readonly values?: Readonly<Partial<Record<Dimension, string>>> | undefined;
}

/** The last generation of a shard in the table, and the number of all events drained from that shard. */
export interface LedgerRow {
  readonly shard: number;
  readonly generation: number;
  readonly nonce: string;
  readonly fence: number;
  readonly events: bigint;
  /** Why the row cannot be read. Its numbers are then 0. */
  readonly damaged?: string;
}

/** When the shard of a ledger's last generation was created, ms by its server; 0 if unknown. A nonce ends with it. */
export function bornOf(ledger: Pick<LedgerRow, "nonce"> | undefined): number {
  return Number.parseInt(/-b([0-9a-f]+)$/.exec(ledger?.nonce ?? "")?.[1] ?? "0", 16);
}

/** When a ledger's last generation was frozen, ms by its server; 0 if unknown. */
export function frozenAtMs(ledger: Pick<LedgerRow, "nonce"> | undefined): number {
  return Number(/-(\d+)-b[0-9a-f]+$/.exec(ledger?.nonce ?? "")?.[1] ?? 0);
}

/**
 * Whether the ledger's last generation is of another shard than this one: of another counter that is drained into the same
 * table, or of one that the store has lost. False after a repair that let this shard continue from that generation.
 */
export function isOfOtherShard(
  { born, rebased }: { born: string | undefined; rebased: string | undefined },
  ledger: Pick<LedgerRow, "generation" | "nonce"> | undefined,
): boolean {
  const ledgerBornMs = bornOf(ledger);
  if (ledger === undefined || born === undefined || ledgerBornMs === 0) return false;
  return Number.parseInt(born, 16) !== ledgerBornMs && rebased !== `${ledgerBornMs.toString(16)} ${ledger.generation}`;
}

/** The table for a reader: ledger and rows at one instant. */
export interface CountTable {
  read<Dimension extends string>(
    shape: CounterShape<Dimension>,
    query: RowsQuery<Dimension>,
  ): Promise<{ readonly ledger: readonly LedgerRow[]; readonly rows: readonly CountRow<Dimension>[] }>;
}

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
