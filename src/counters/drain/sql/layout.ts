import { argumentError, checkKnown } from "../../../base/errors.ts";
import type { CounterShape } from "../../counter/table.ts";
import { checkShape } from "./shape.ts";

/** Options of every sink: its tables. */
export interface SinkOptions {
  /**
   * Table of the counts. Default: the counter's name and "_counts". Give each counter its own, or their counts add up.
   */
  table?: string | undefined;
  /** Table of the ledgers of all counters of a database. Default "oriel_ledger". */
  ledgerTable?: string | undefined;
  /** Schema of both tables (in MySQL and SQLite: the database). Default: that of the connection. */
  schema?: string | undefined;
  /** Names of the table's columns. Default: bucket, start_at, count, and the names of the dimensions. */
  columns?:
    | {
        bucket?: string | undefined;
        start?: string | undefined;
        count?: string | undefined;
        dimensions?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
}

export interface Dialect {
  /** The character around identifiers. */
  readonly quote: '"' | "`";
  /** Maximum UTF-8 bytes of an identifier. */
  readonly longestName: number;
  /** Oracle: default names are in capitals, so that SQL can use them without quotes. */
  readonly capitals?: boolean;
}

/** Identifiers as statements write them, quoted. */
export interface Layout {
  readonly table: string;
  readonly ledger: string;
  readonly bucket: string;
  readonly start: string;
  readonly count: string;
  readonly dimensions: readonly string[];
  /** The columns of the primary key: bucket, start, dimensions. In this order, rows written together are adjacent. */
  readonly key: readonly string[];
}

const OPTIONS = ["table", "ledgerTable", "schema", "columns"];
const LEDGER_COLUMNS = ["counter", "shard", "generation", "nonce", "fence", "events"];

/** Quotes an identifier. Throws ARGUMENT if the database does not support the name. */
function identifier(dialect: Dialect, argument: string, name: unknown): string {
  const { quote, longestName, capitals } = dialect;
  const fits = typeof name === "string" && name !== "" && Buffer.byteLength(name) <= longestName;
  if (!fits || /\0|\p{Surrogate}/u.test(name) || (capitals && name.includes(quote)))
    throw argumentError(
      argument,
      name,
      `a name of 1 to ${longestName} bytes of UTF-8, without NUL${capitals ? ' and "' : ""}`,
    );
  return quote + name.replaceAll(quote, quote + quote) + quote;
}

export function checkOptions(options: SinkOptions, more: readonly string[] = []): void {
  checkKnown(options, [...OPTIONS, ...more]);
  if (options.columns !== undefined) checkKnown(options.columns, ["bucket", "start", "count", "dimensions"], "columns");
}

/** The names of a counter's table and ledger. Throws ARGUMENT for an invalid shape or name. */
export function layoutOf(shape: CounterShape, options: SinkOptions, dialect: Dialect): Layout {
  checkShape(shape);
  const { columns = {} } = options;
  // A Map, because any object has inherited names such as `constructor`.
  const named = new Map(Object.entries(columns.dimensions ?? {}));
  for (const dimension of named.keys())
    if (!shape.dimensions.includes(dimension))
      throw argumentError("columns.dimensions", dimension, `one of ${shape.dimensions.join(", ")}`);
  const own = (name: string) => (dialect.capitals ? name.toUpperCase() : name);
  const quoted = (argument: string, chosen: string | undefined, otherwise: string) =>
    identifier(dialect, argument, chosen ?? own(otherwise));
  const schema = options.schema === undefined ? "" : `${identifier(dialect, "schema", options.schema)}.`;
  const bucket = quoted("columns.bucket", columns.bucket, "bucket");
  const start = quoted("columns.start", columns.start, "start_at");
  const count = quoted("columns.count", columns.count, "count");
  const dimensions = shape.dimensions.map((name) => quoted(`columns.dimensions.${name}`, named.get(name), name));
  const all = [bucket, start, count, ...dimensions];
  const twice = all.find((name, i) => all.findIndex((other) => other.toLowerCase() === name.toLowerCase()) < i);
  if (twice) throw argumentError("columns", twice, "a name that no other column has, ignoring case");
  return {
    table: schema + quoted("table", options.table, `${shape.name}_counts`),
    ledger: schema + quoted("ledgerTable", options.ledgerTable, "oriel_ledger"),
    bucket,
    start,
    count,
    dimensions,
    key: [bucket, start, ...dimensions],
  };
}

/** The ledger's columns, quoted: counter, shard, generation, nonce, fence, events. */
export function ledgerColumns(dialect: Dialect): string[] {
  return LEDGER_COLUMNS.map((name) => identifier(dialect, "ledger", dialect.capitals ? name.toUpperCase() : name));
}
