import type { Condition } from "../answers.ts";
import type { Dialect, Layout } from "../layout.ts";
import type { KeyedRow } from "../rows.ts";

export const POSTGRES: Dialect = { quote: '"', longestName: 63 };

/** The statements of one shape, for any number of rows. */
export interface PostgresTexts {
  readonly ddl: string[];
  /** Parameters: counter, shard, generation, nonce, fence, events. Returns a row if the ledger was advanced. */
  readonly step: string;
  /** Parameters: counter. */
  readonly ledger: string;
  /** Parameters: one array per column, for bucket, start, dimensions and count. */
  readonly add: string;
}

export function postgresTexts(layout: Layout, ledger: readonly string[]): PostgresTexts {
  const { table, bucket, start, count, dimensions, key } = layout;
  const [counter, shard, generation, nonce, fence, events] = ledger;
  const text = 'text COLLATE "C" NOT NULL';
  const types = ["text", "timestamptz", ...dimensions.map(() => "text"), "bigint"];
  return {
    // Rows are updated a few times soon after they were inserted. With room in their page, no index changes.
    ddl: [
      `CREATE TABLE IF NOT EXISTS ${layout.ledger} (${counter} ${text}, ${shard} integer NOT NULL, ` +
        `${generation} bigint NOT NULL, ${nonce} ${text}, ${fence} bigint NOT NULL, ${events} bigint NOT NULL, ` +
        `PRIMARY KEY (${counter}, ${shard}))`,
      // A row is updated often. With room in its page, no index changes.
      `CREATE TABLE IF NOT EXISTS ${table} (${bucket} ${text}, ${dimensions.map((name) => `${name} ${text}, `).join("")}` +
        `${start} timestamptz NOT NULL, ${count} bigint NOT NULL, PRIMARY KEY (${key.join(", ")})) WITH (fillfactor = 50)`,
    ],
    // A missing row is generation 0, so only the first generation may insert it.
    step:
      `INSERT INTO ${layout.ledger} AS l (${ledger.join(", ")}) ` +
      "SELECT $1::text, $2::integer, $3::bigint, $4::text, $5::bigint, $6::bigint WHERE $3::bigint = 1 " +
      `OR EXISTS (SELECT FROM ${layout.ledger} WHERE ${counter} = $1::text AND ${shard} = $2::integer) ` +
      `ON CONFLICT (${counter}, ${shard}) DO UPDATE SET ${generation} = excluded.${generation}, ` +
      `${nonce} = excluded.${nonce}, ${fence} = excluded.${fence}, ${events} = l.${events} + excluded.${events} ` +
      `WHERE l.${generation} = excluded.${generation} - 1 AND l.${fence} <= excluded.${fence} RETURNING 1`,
    ledger:
      `SELECT ${shard} AS shard, ${generation}::text AS generation, ${nonce} AS nonce, ${fence}::text AS fence, ` +
      `${events}::text AS events FROM ${layout.ledger} WHERE ${counter} = $1 ORDER BY ${shard}`,
    add:
      `INSERT INTO ${table} AS t (${[...key, count].join(", ")}) ` +
      `SELECT * FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(", ")}) ` +
      `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${count} = t.${count} + excluded.${count}`,
  };
}

/** The parameters of `add`, in PostgreSQL's array syntax. */
export function arraysOf(rows: readonly KeyedRow[], dimensions: number): string[] {
  return [
    `{${rows.map((row) => row.bucket).join(",")}}`,
    `{${rows.map((row) => `${row.start}Z`).join(",")}}`,
    ...Array.from(
      { length: dimensions },
      (_, i) => `{${rows.map((row) => element(row.values[i] as string)).join(",")}}`,
    ),
    `{${rows.map((row) => row.count).join(",")}}`,
  ];
}

function element(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, "\\$&") : text}"`;
}

/** The rows of a query: columns start, count, d0, d1 and so on, as text. */
export function postgresRead(layout: Layout, asked: readonly Condition[]) {
  const { start, count, dimensions } = layout;
  const where = asked.map(({ column, sign }, i) => {
    if (column === "start") return `${start} ${sign} $${i + 1}::timestamptz`;
    return `${column === "bucket" ? layout.bucket : dimensions[column]} ${sign} $${i + 1}`;
  });
  const columns = [
    // Without BC, a year before Christ would be read as one after it.
    `to_char(${start} AT TIME ZONE 'UTC', ` +
      `CASE WHEN ${start} < '0001-01-01Z' THEN 'YYYY-MM-DD"T"HH24:MI:SS BC' ELSE 'YYYY-MM-DD"T"HH24:MI:SS' END) AS start`,
    `${count}::text AS count`,
    ...dimensions.map((name, i) => `${name} AS d${i}`),
  ];
  return {
    text:
      `SELECT ${columns.join(", ")} FROM ${layout.table} WHERE ${where.join(" AND ")} ` +
      `ORDER BY ${[start, ...dimensions].map((name) => `${layout.table}.${name}`).join(", ")}`,
    values: asked.map(({ column, value }) => (column === "start" ? `${value}Z` : value)),
  };
}
