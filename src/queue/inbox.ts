import { argumentError, checkKnown } from "../errors.ts";
import { placed } from "../place.ts";
import { hexOf } from "./format/hex.ts";

export interface InboxOptions {
  /** Default "oriel_inbox": a name of A-Z a-z 0-9 _, one with a schema before it too. */
  table?: string;
}

/** What is used of a connection with an open transaction: of pg, mysql2/promise, or better-sqlite3 and node:sqlite. */
export type Transaction =
  | { query(text: string, values: string[]): Promise<unknown>; execute?: undefined; prepare?: unknown }
  | { execute(text: string, values: string[]): Promise<unknown>; query?: unknown; prepare?: unknown }
  | { prepare(text: string): SqliteInsert; exec: unknown };

interface SqliteInsert {
  run(parameter: string): { changes: number | bigint };
  finalize?(): void;
}

const MOST_QUEUE = 128;
const QUEUE = new RegExp(`^[^\\0]{0,${MOST_QUEUE}}$`, "u");
/** Byte by byte, trailing spaces too; as the drain's tables. */
const EXACT = "CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */";
const TABLE = /^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/;

/** The table that `job.once` writes to: a row for each message that had its effect. Old rows may be deleted. */
export function inboxTable(dialect: "postgres" | "mysql" | "sqlite", options: InboxOptions = {}): string {
  return placed("inboxTable", () => {
    if (dialect !== "postgres" && dialect !== "mysql" && dialect !== "sqlite")
      throw argumentError("dialect", dialect, '"postgres", "mysql" or "sqlite"');
    checkKnown(options, ["table"]);
    const { table = "oriel_inbox" } = options;
    const isMysql = dialect === "mysql";
    const queue = isMysql ? `VARCHAR(${MOST_QUEUE}) ${EXACT}` : "TEXT";
    const text = isMysql ? `VARCHAR(512) ${EXACT}` : "TEXT";
    const time = dialect === "postgres" ? "timestamptz" : "TIMESTAMP";
    const engine = isMysql ? " ENGINE=InnoDB ROW_FORMAT=DYNAMIC" : "";
    return (
      `CREATE TABLE IF NOT EXISTS ${checkTable(table)} (queue ${queue} NOT NULL, id ${text} NOT NULL, ` +
      `done_at ${time} NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (queue, id))${engine}`
    );
  });
}

/** Whether the row was not there. Throws ARGUMENT for a queue whose name the key cannot hold, and for a pool. */
export async function inboxOnce(transaction: Transaction, queue: string, id: string, options: InboxOptions = {}) {
  checkKnown(options, ["table"]);
  const table = checkTable(options.table ?? "oriel_inbox");
  // MySQL would cut it off without an error.
  if (!QUEUE.test(queue))
    throw argumentError("name", queue, `at most ${MOST_QUEUE} characters, without NUL, where job.once is called`);
  if (isPool(transaction)) throw argumentError("transaction", transaction, "one connection, not a pool of them");
  const insert = `INTO ${table} (queue, id)`;
  if (isMysql(transaction)) {
    // In hexadecimal: the connection's character set may lack what they are written with.
    const text = "CONVERT(UNHEX(?) USING utf8mb4)";
    const values = [hexOf(encoder.encode(queue)), hexOf(encoder.encode(id))];
    const [header] = (await transaction.execute(`INSERT IGNORE ${insert} VALUES (${text}, ${text})`, values)) as [
      { affectedRows: number },
    ];
    return header.affectedRows === 1;
  }
  if (isSqlite(transaction)) {
    // One parameter in one place, as better-sqlite3, node:sqlite and node-sqlite3-wasm all take it.
    const values = "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)";
    const statement = transaction.prepare(`INSERT OR IGNORE ${insert} ${values}`);
    try {
      return Number(statement.run(JSON.stringify([[queue, id]])).changes) === 1;
    } finally {
      statement.finalize?.();
    }
  }
  if (typeof (transaction as { query?: unknown })?.query !== "function")
    throw argumentError("transaction", transaction, "a connection of pg, mysql2/promise or SQLite");
  const text = `INSERT ${insert} VALUES ($1, $2) ON CONFLICT DO NOTHING`;
  const { rowCount } = (await (transaction as { query: Query }).query(text, [queue, id])) as { rowCount: number };
  return rowCount === 1;
}

/** Of pg or mysql2: each statement may go to another connection, outside of any transaction. */
function isPool(transaction: unknown): boolean {
  const { totalCount, getConnection } = (transaction ?? {}) as { totalCount?: unknown; getConnection?: unknown };
  return typeof totalCount === "number" || typeof getConnection === "function";
}

const encoder = new TextEncoder();

type Query = (text: string, values: string[]) => Promise<unknown>;

function isMysql(transaction: Transaction): transaction is { execute: Query } {
  return typeof (transaction as { execute?: unknown })?.execute === "function";
}

function isSqlite(transaction: Transaction): transaction is Extract<Transaction, { exec: unknown }> {
  return typeof (transaction as { exec?: unknown })?.exec === "function";
}

function checkTable(table: unknown): string {
  if (typeof table !== "string" || !TABLE.test(table))
    throw argumentError("table", table, "a name of A-Z a-z 0-9 _, from a letter, with a schema or none");
  return table;
}
