import { argumentError, checkKnown } from "../errors.ts";

export interface InboxOptions {
  /** Default "oriel_inbox": a name of A-Z a-z 0-9 _, one with a schema before it too. */
  table?: string;
}

/** What is used of a connection with an open transaction: of pg, mysql2/promise, or better-sqlite3 and node:sqlite. */
export type Transaction =
  | { query(text: string, values: unknown[]): Promise<unknown>; execute?: undefined; prepare?: unknown }
  | { execute(text: string, values: unknown[]): Promise<unknown>; query?: unknown; prepare?: unknown }
  | { prepare(text: string): { run(...values: unknown[]): { changes: number | bigint } }; exec: unknown };

const TABLE = /^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/;

/** The table that `job.once` writes to: a row for each message that had its effect. Old rows may be deleted. */
export function inboxTable(
  dialect: "postgres" | "mysql" | "sqlite",
  { table = "oriel_inbox" }: InboxOptions = {},
): string {
  const text = dialect === "mysql" ? "VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" : "TEXT";
  const queue = dialect === "mysql" ? "VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" : "TEXT";
  const time = dialect === "postgres" ? "timestamptz" : "TIMESTAMP";
  return (
    `CREATE TABLE IF NOT EXISTS ${checkTable(table)} (queue ${queue} NOT NULL, id ${text} NOT NULL, ` +
    `done_at ${time} NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (queue, id))`
  );
}

export async function inboxOnce(transaction: Transaction, queue: string, id: string, options: InboxOptions = {}) {
  checkKnown(options, ["table"]);
  const table = checkTable(options.table ?? "oriel_inbox");
  const insert = `INTO ${table} (queue, id) VALUES`;
  if (isMysql(transaction)) {
    const [header] = (await transaction.execute(`INSERT IGNORE ${insert} (?, ?)`, [queue, id])) as [
      { affectedRows: number },
    ];
    return header.affectedRows === 1;
  }
  if (isSqlite(transaction))
    return Number(transaction.prepare(`INSERT OR IGNORE ${insert} (?, ?)`).run(queue, id).changes) === 1;
  if (typeof (transaction as { query?: unknown })?.query !== "function")
    throw argumentError("transaction", transaction, "a connection of pg, mysql2/promise or SQLite");
  const text = `INSERT ${insert} ($1, $2) ON CONFLICT DO NOTHING`;
  const { rowCount } = (await (transaction as { query: Query }).query(text, [queue, id])) as { rowCount: number };
  return rowCount === 1;
}

type Query = (text: string, values: unknown[]) => Promise<unknown>;

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
