import type { CounterShape } from "../../../counter/table.ts";
import type { Condition } from "../answers.ts";
import type { Dialect, Layout } from "../layout.ts";
import type { KeyedRow } from "../rows.ts";
import { longestValue } from "../shape.ts";

export const ORACLE: Dialect = { quote: '"', longestName: 128, capitals: true };

const SECONDS = `'YYYY-MM-DD"T"HH24:MI:SS'`;

/** Oracle stores the empty text as NULL, so it is written as "\". A text that begins with "\" gets one more. */
function stored(value: string): string {
  return value === "" || value.startsWith("\\") ? `\\${value}` : value;
}

export function restored(value: string): string {
  return value.startsWith("\\") ? value.slice(1) : value;
}

/** Statements with positional binds. All binds are texts, so that no count becomes a double. */
export interface OracleTexts {
  readonly ddl: string[];
  /** generation, nonce, fence, events, counter, shard, generation - 1, fence */
  readonly step: string;
  /** counter, shard, generation, nonce, fence, events */
  readonly begin: string;
  /** counter, shard */
  readonly lock: string;
  /** counter */
  readonly ledger: string;
  /** Binds of both: count, bucket, start, dimensions. */
  readonly update: string;
  readonly insert: string;
}

export function oracleTexts(shape: CounterShape, layout: Layout, ledger: readonly string[]): OracleTexts {
  const { table, bucket, start, count, dimensions, key } = layout;
  const [counter, shard, generation, nonce, fence, events] = ledger;
  const text = `VARCHAR2(${longestValue(shape) + 1} CHAR) NOT NULL`;
  const number = (i: number) => `TO_NUMBER(:${i})`;
  const keys = key.map((name, i) => (name === start ? `TO_TIMESTAMP(:${i + 2}, ${SECONDS})` : `:${i + 2}`));
  const select =
    `SELECT ${shard} AS "shard", TO_CHAR(${generation}) AS "generation", ${nonce} AS "nonce", ` +
    `TO_CHAR(${fence}) AS "fence", TO_CHAR(${events}) AS "events" FROM ${layout.ledger} WHERE ${counter} = :1`;
  return {
    ddl: [
      unlessThere(
        `CREATE TABLE ${layout.ledger} (${counter} VARCHAR2(255 CHAR) NOT NULL, ${shard} NUMBER(10) NOT NULL, ` +
          `${generation} NUMBER(19) NOT NULL, ${nonce} VARCHAR2(64 CHAR) NOT NULL, ${fence} NUMBER(19) NOT NULL, ` +
          `${events} NUMBER(19) NOT NULL, PRIMARY KEY (${counter}, ${shard}))`,
      ),
      unlessThere(
        `CREATE TABLE ${table} (${bucket} VARCHAR2(6 CHAR) NOT NULL, ` +
          `${dimensions.map((name) => `${name} ${text}, `).join("")}${start} TIMESTAMP(0) NOT NULL, ` +
          `${count} NUMBER(19) NOT NULL, PRIMARY KEY (${key.join(", ")}))`,
      ),
    ],
    step:
      `UPDATE ${layout.ledger} SET ${generation} = ${number(1)}, ${nonce} = :2, ${fence} = ${number(3)}, ` +
      `${events} = ${events} + ${number(4)} WHERE ${counter} = :5 AND ${shard} = ${number(6)} ` +
      `AND ${generation} = ${number(7)} AND ${fence} <= ${number(8)}`,
    begin:
      `INSERT INTO ${layout.ledger} (${ledger.join(", ")}) ` +
      `VALUES (:1, ${number(2)}, ${number(3)}, :4, ${number(5)}, ${number(6)})`,
    lock: `${select} AND ${shard} = ${number(2)} FOR UPDATE`,
    ledger: `${select} ORDER BY ${shard}`,
    update:
      `UPDATE ${table} SET ${count} = ${count} + ${number(1)} ` +
      `WHERE ${key.map((name, i) => `${name} = ${keys[i]}`).join(" AND ")}`,
    insert: `INSERT INTO ${table} (${[count, ...key].join(", ")}) VALUES (${number(1)}, ${keys.join(", ")})`,
  };
}

/** Oracle has no IF NOT EXISTS before 23ai. ORA-00955 means that the name exists. */
function unlessThere(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return `BEGIN EXECUTE IMMEDIATE '${quoted}'; EXCEPTION WHEN OTHERS THEN IF SQLCODE != -955 THEN RAISE; END IF; END;`;
}

/** The binds of `update` and `insert`. */
export function rowBinds({ bucket, values, start, count }: KeyedRow): string[] {
  return [String(count), bucket, start, ...values.map(stored)];
}

/** The rows of a query: columns start, count, d0, d1 and so on, as text. */
export function oracleRead(layout: Layout, asked: readonly Condition[]) {
  const { table, bucket, start, count, dimensions } = layout;
  const where = asked.map(({ column, sign }, i) => {
    if (column === "start") return `${start} ${sign} TO_TIMESTAMP(:${i + 1}, ${SECONDS})`;
    return `${column === "bucket" ? bucket : dimensions[column]} ${sign} :${i + 1}`;
  });
  const columns = [
    `TO_CHAR(${start}, ${SECONDS}) AS "start"`,
    `TO_CHAR(${count}) AS "count"`,
    ...dimensions.map((name, i) => `${name} AS "d${i}"`),
  ];
  const order = [start, ...dimensions].map((name) => `t.${name}`);
  return {
    text: `SELECT ${columns.join(", ")} FROM ${table} t WHERE ${where.join(" AND ")} ORDER BY ${order.join(", ")}`,
    binds: asked.map(({ column, value }) => (typeof column === "number" ? stored(value) : value)),
  };
}
