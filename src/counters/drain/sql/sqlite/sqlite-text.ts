import type { Condition } from "../answers.ts";
import type { Dialect, Layout } from "../layout.ts";

export const SQLITE: Dialect = { quote: '"', longestName: 1000 };

/** Every statement has one parameter, a JSON text, used once. All drivers support this way of binding. */
export interface SqliteTexts {
  readonly ddl: string[];
  /** [counter, shard, generation, nonce, fence, "events"]. Returns a row if the ledger was advanced. */
  readonly step: string;
  /** [counter] */
  readonly ledger: string;
  /** [[bucket, start, ...values, "count"], …] */
  readonly add: string;
}

const GIVEN = "WITH oriel_given(parameter) AS (SELECT ?)";
const at = (i: number, of: string) => `json_extract(${of}, '$[${i}]')`;
const given = (i: number) => `(SELECT ${at(i, "parameter")} FROM oriel_given)`;

export function sqliteTexts(layout: Layout, ledger: readonly string[]): SqliteTexts {
  const { table, bucket, start, count, dimensions, key } = layout;
  const [counter, shard, generation, nonce, fence, events] = ledger;
  // Without the check a sum above 2^63 - 1 would silently become a double.
  const whole = (name: string | undefined) => `${name} INTEGER NOT NULL CHECK (typeof(${name}) = 'integer')`;
  const step = ledger.map((_, i) => (i === 5 ? `CAST(${given(i)} AS INTEGER)` : given(i)));
  return {
    ddl: [
      `CREATE TABLE IF NOT EXISTS ${layout.ledger} (${counter} TEXT NOT NULL, ${whole(shard)}, ${whole(generation)}, ` +
        `${nonce} TEXT NOT NULL, ${whole(fence)}, ${whole(events)}, PRIMARY KEY (${counter}, ${shard})) WITHOUT ROWID`,
      `CREATE TABLE IF NOT EXISTS ${table} (${[bucket, ...dimensions, start].map((name) => `${name} TEXT NOT NULL`).join(", ")}, ` +
        `${whole(count)}, PRIMARY KEY (${key.join(", ")})) WITHOUT ROWID`,
    ],
    // A missing row is generation 0, so only the first generation may insert it.
    step:
      `${GIVEN} INSERT INTO ${layout.ledger} AS l (${ledger.join(", ")}) SELECT ${step.join(", ")} WHERE ${given(2)} = 1 ` +
      `OR EXISTS (SELECT 1 FROM ${layout.ledger} WHERE ${counter} = ${given(0)} AND ${shard} = ${given(1)}) ` +
      `ON CONFLICT (${counter}, ${shard}) DO UPDATE SET ${generation} = excluded.${generation}, ` +
      `${nonce} = excluded.${nonce}, ${fence} = excluded.${fence}, ${events} = l.${events} + excluded.${events} ` +
      `WHERE l.${generation} = excluded.${generation} - 1 AND l.${fence} <= excluded.${fence} RETURNING 1`,
    ledger:
      `${GIVEN} SELECT ${shard} AS shard, CAST(${generation} AS TEXT) AS generation, ${nonce} AS nonce, ` +
      `CAST(${fence} AS TEXT) AS fence, CAST(${events} AS TEXT) AS events FROM ${layout.ledger} ` +
      `WHERE ${counter} = ${given(0)} ORDER BY ${shard}`,
    add:
      `INSERT INTO ${table} AS t (${[...key, count].join(", ")}) ` +
      `SELECT ${key.map((_, i) => at(i, "value")).join(", ")}, CAST(${at(key.length, "value")} AS INTEGER) ` +
      "FROM json_each(?) WHERE true " +
      `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${count} = t.${count} + excluded.${count}`,
  };
}

/**
 * The rows of a query: columns start, count, d0, d1 and so on, as text. Its parameter is the array of compared values.
 */
export function sqliteRead(layout: Layout, asked: readonly Condition[]): string {
  const { table, bucket, start, count, dimensions } = layout;
  const where = asked.map(({ column, sign }, i) => {
    const name = column === "start" ? start : column === "bucket" ? bucket : dimensions[column];
    return `${name} ${sign} ${given(i)}`;
  });
  const columns = [
    // A text of another form was written by another program. It is returned unchanged, and then refused as damaged.
    `CASE WHEN ${start} GLOB '*:[0-9][0-9]Z' THEN rtrim(${start}, 'Z') ELSE ${start} END AS start`,
    `CAST(${count} AS TEXT) AS count`,
    ...dimensions.map((name, i) => `${name} AS d${i}`),
  ];
  return (
    `${GIVEN} SELECT ${columns.join(", ")} FROM ${table} WHERE ${where.join(" AND ")} ` +
    `ORDER BY ${[start, ...dimensions].map((name) => `${table}.${name}`).join(", ")}`
  );
}
