import type { CounterShape } from "../../../counter/table.ts";
import type { Condition } from "../answers.ts";
import type { Dialect, Layout } from "../layout.ts";
import type { KeyedRow } from "../rows.ts";
import { longestValue } from "../shape.ts";
import type { DrainBatch } from "../sink.ts";

export const MYSQL: Dialect = { quote: "`", longestName: 64 };

/** Keeps an INSERT below the default packet size of every server. */
const MAX_CHARACTERS = 512 * 1024;
/**
 * Compares bytes, including trailing spaces. Each server reads only its own comment, because their collation names
 * differ.
 */
const EXACT = "CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */ NOT NULL";
const ASCII = "CHARACTER SET ascii COLLATE ascii_bin NOT NULL";

/**
 * A literal that means the same under every sql_mode and character set of the connection. Quotes and backslashes depend
 * on them, so everything except plain ASCII is written in hexadecimal.
 */
function literal(text: string): string {
  return /^[\w .:/-]*$/.test(text) ? `'${text}'` : `_utf8mb4 x'${Buffer.from(text).toString("hex")}'`;
}

export function mysqlTables(shape: CounterShape, layout: Layout, ledger: readonly string[]): string[] {
  const { table, bucket, start, count, dimensions, key } = layout;
  const [counter, shard, generation, nonce, fence, events] = ledger;
  const text = `VARCHAR(${longestValue(shape)}) ${EXACT}`;
  return [
    `CREATE TABLE IF NOT EXISTS ${layout.ledger} (${counter} VARCHAR(255) ${EXACT}, ${shard} INT NOT NULL, ` +
      `${generation} BIGINT NOT NULL, ${nonce} VARCHAR(64) ${ASCII}, ${fence} BIGINT NOT NULL, ` +
      `${events} BIGINT NOT NULL, PRIMARY KEY (${counter}, ${shard})) ENGINE=InnoDB`,
    `CREATE TABLE IF NOT EXISTS ${table} (${bucket} VARCHAR(6) ${ASCII}, ` +
      `${dimensions.map((name) => `${name} ${text}, `).join("")}${start} DATETIME NOT NULL, ` +
      `${count} BIGINT NOT NULL, PRIMARY KEY (${key.join(", ")})) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
  ];
}

/** The statements that advance the ledger, insert its first row and read it. */
export function mysqlLedger(layout: Layout, columns: readonly string[], { name }: CounterShape) {
  const [counter, shard, generation, nonce, fence, events] = columns;
  const named = `${counter} = ${literal(name)}`;
  return {
    step: (batch: DrainBatch) =>
      `UPDATE ${layout.ledger} SET ${generation} = ${batch.generation}, ${nonce} = '${batch.nonce}', ` +
      `${fence} = ${batch.fence}, ${events} = ${events} + ${batch.events} WHERE ${named} AND ${shard} = ${batch.shard} ` +
      `AND ${generation} = ${batch.generation - 1} AND ${fence} <= ${batch.fence}`,
    begin: (batch: DrainBatch) =>
      `INSERT INTO ${layout.ledger} (${columns.join(", ")}) VALUES (${literal(name)}, ${batch.shard}, ` +
      `${batch.generation}, '${batch.nonce}', ${batch.fence}, ${batch.events})`,
    read: (ofShard?: number) =>
      `SELECT ${shard} AS shard, CAST(${generation} AS CHAR) AS generation, ${nonce} AS nonce, ` +
      `CAST(${fence} AS CHAR) AS fence, CAST(${events} AS CHAR) AS events FROM ${layout.ledger} WHERE ${named}` +
      (ofShard === undefined ? ` ORDER BY ${shard}` : ` AND ${shard} = ${ofShard} FOR UPDATE`),
  };
}

/** Statements that add the rows, each of at most half a megabyte. */
export function* mysqlAdds({ table, key, count }: Layout, rows: readonly KeyedRow[]): Generator<string> {
  const head = `INSERT INTO ${table} (${[...key, count].join(", ")}) VALUES `;
  // VALUES() names the new row in MariaDB and in all versions of MySQL.
  const tail = ` ON DUPLICATE KEY UPDATE ${count} = ${count} + VALUES(${count})`;
  let texts: string[] = [];
  let characters = 0;
  for (const row of rows) {
    const text = `('${row.bucket}','${row.start}',${row.values.map((value) => `${literal(value)},`).join("")}${row.count})`;
    texts.push(text);
    characters += text.length;
    if (characters < MAX_CHARACTERS) continue;
    yield head + texts.join(",") + tail;
    texts = [];
    characters = 0;
  }
  if (texts.length > 0) yield head + texts.join(",") + tail;
}

/**
 * The rows of a query: columns start, count, d0, d1 and so on, as text. Values are in hexadecimal, because a server
 * sends text in the connection's character set, with "?" for unsupported characters.
 */
export function mysqlRead(layout: Layout, asked: readonly Condition[]): string {
  const { start, count, dimensions, bucket, table } = layout;
  const where = asked.map(({ column, sign, value }) => {
    const name = column === "start" ? start : column === "bucket" ? bucket : dimensions[column];
    return `${name} ${sign} ${literal(value)}`;
  });
  const columns = [
    `DATE_FORMAT(${start}, '%Y-%m-%dT%H:%i:%s') AS start`,
    `CAST(${count} AS CHAR) AS count`,
    ...dimensions.map((name, i) => `HEX(CONVERT(${name} USING utf8mb4)) AS d${i}`),
  ];
  const order = [start, ...dimensions].map((name) => `${table}.${name}`);
  return `SELECT ${columns.join(", ")} FROM ${table} WHERE ${where.join(" AND ")} ORDER BY ${order.join(", ")}`;
}
