import { argumentError } from "../base/errors.ts";
import { hexOf } from "../base/hex.ts";
import { type Schema, settingsOf, text } from "../base/options.ts";
import { atSite } from "../base/site.ts";

/** Options of the inbox table. */
export interface InboxOptions {
  /** The table's name, optionally with a schema in front. Characters A-Z a-z 0-9 _. Default "oriel_inbox". */
  table?: string | undefined;
}

/**
 * A connection with an open transaction, from pg, mysql2/promise, better-sqlite3 or node:sqlite. Only the members used
 * here.
 */
export type InboxTransaction =
  | { query(text: string, values: string[]): Promise<unknown>; execute?: undefined; prepare?: unknown }
  | { execute(text: string, values: string[]): Promise<unknown>; query?: unknown; prepare?: unknown }
  | { prepare(text: string): InboxInsert; exec: unknown };

/** The prepared statement of a SQLite driver. */
export interface InboxInsert {
  run(parameter: string): { changes: number | bigint };
  finalize?(): void;
}

const MAX_QUEUE = 128;
const QUEUE = new RegExp(`^[^\\0]{0,${MAX_QUEUE}}$`, "u");
/** Compares byte by byte, including trailing spaces, as in the tables of the drain. */
const EXACT = "CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */";
const TABLE = /^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/;
const INBOX = {
  table: [text, "oriel_inbox", "a name of A-Z a-z 0-9 _, from a letter, with a schema or none", TABLE],
} as const satisfies Schema<InboxOptions>;

/**
 * Returns the SQL that creates the table for `job.once`. It has a row for each message whose effect is committed. Old
 * rows may be deleted.
 */
export function inboxTable(dialect: "postgres" | "mysql" | "sqlite", options: InboxOptions = {}): string {
  return atSite("inboxTable", () => {
    if (dialect !== "postgres" && dialect !== "mysql" && dialect !== "sqlite")
      throw argumentError("dialect", dialect, '"postgres", "mysql" or "sqlite"');
    const { table } = settingsOf(INBOX, options);
    const isMysql = dialect === "mysql";
    const queue = isMysql ? `VARCHAR(${MAX_QUEUE}) ${EXACT}` : "TEXT";
    const text = isMysql ? `VARCHAR(512) ${EXACT}` : "TEXT";
    const time = dialect === "postgres" ? "timestamptz" : "TIMESTAMP";
    const engine = isMysql ? " ENGINE=InnoDB ROW_FORMAT=DYNAMIC" : "";
    return (
      `CREATE TABLE IF NOT EXISTS ${table} (queue ${queue} NOT NULL, id ${text} NOT NULL, ` +
      `done_at ${time} NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (queue, id))${engine}`
    );
  });
}

/**
 * Inserts the row of a message; returns false if it already exists. Throws ARGUMENT for a connection pool, for a
 * connection without an open transaction, and for a queue name that the key cannot hold.
 */
export async function inboxOnce(transaction: InboxTransaction, queue: string, id: string, options: InboxOptions = {}) {
  const { table } = settingsOf(INBOX, options);
  // MySQL would truncate the name without an error.
  if (!QUEUE.test(queue))
    throw argumentError("name", queue, `at most ${MAX_QUEUE} characters, without NUL, where job.once is called`);
  if (isPool(transaction)) throw argumentError("transaction", transaction, "one connection, not a pool of them");
  const insert = `INTO ${table} (queue, id)`;
  if (isMysql(transaction)) {
    await checkOpenInMysql(transaction);
    // In hexadecimal, because the connection's character set may lack some characters of these values.
    const text = "CONVERT(UNHEX(?) USING utf8mb4)";
    const values = [hexOf(encoder.encode(queue)), hexOf(encoder.encode(id))];
    const [header] = (await transaction.execute(`INSERT IGNORE ${insert} VALUES (${text}, ${text})`, values)) as [
      { affectedRows: number },
    ];
    return header.affectedRows === 1;
  }
  if (isSqlite(transaction)) {
    checkOpenInSqlite(transaction);
    // One parameter, used once: better-sqlite3, node:sqlite and node-sqlite3-wasm all accept this form.
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
  await checkOpenInPostgres(transaction);
  const text = `INSERT ${insert} VALUES ($1, $2) ON CONFLICT DO NOTHING`;
  const { rowCount } = (await (transaction as { query: Query }).query(text, [queue, id])) as { rowCount: number };
  return rowCount === 1;
}

/**
 * Whether it is a pool of pg or mysql2. A pool may send each statement to another connection, outside any transaction.
 */
function isPool(transaction: unknown): boolean {
  const { totalCount, getConnection } = (transaction ?? {}) as { totalCount?: unknown; getConnection?: unknown };
  return typeof totalCount === "number" || typeof getConnection === "function";
}

const encoder = new TextEncoder();

type Query = (text: string, values: string[]) => Promise<unknown>;

function isMysql(transaction: InboxTransaction): transaction is { execute: Query } {
  return typeof (transaction as { execute?: unknown })?.execute === "function";
}

function isSqlite(transaction: InboxTransaction): transaction is Extract<InboxTransaction, { exec: unknown }> {
  return typeof (transaction as { exec?: unknown })?.exec === "function";
}

/** The members of pg's clients that this file uses. Old versions lack the second one. */
interface PostgresClient {
  query(text: string): Promise<unknown>;
  getTransactionStatus?(): unknown;
}

/** Flags of the status that MySQL and MariaDB send with each result. */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;
/** PostgreSQL's code for a command that needs a transaction. */
const NO_TRANSACTION = "25P01";

/**
 * Throws ARGUMENT if no transaction is open on a connection of pg. SAVEPOINT fails outside of one. Costs a round trip
 * where the client does not know.
 */
async function checkOpenInPostgres(connection: object): Promise<void> {
  const client = connection as PostgresClient;
  if (client.getTransactionStatus?.() === "T") return;
  try {
    await client.query("SAVEPOINT oriel_inbox; RELEASE SAVEPOINT oriel_inbox");
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code === NO_TRANSACTION) throw notOpen(client);
    throw error;
  }
}

/**
 * The same for mysql2. A result's status says whether a transaction is open; without autocommit each statement is in
 * one. Costs a round trip.
 */
async function checkOpenInMysql(client: { execute(text: string, values: string[]): Promise<unknown> }) {
  const [{ serverStatus }] = (await client.execute("DO 0", [])) as [{ serverStatus?: unknown }];
  if (typeof serverStatus !== "number") return;
  if ((serverStatus & IN_TRANSACTION) === 0 && (serverStatus & AUTOCOMMIT) !== 0) throw notOpen(client);
}

/** The same for SQLite. Drivers have no common name for the flag, and some have none. */
function checkOpenInSqlite(database: { exec: unknown }): void {
  const { inTransaction, isTransaction } = database as { inTransaction?: unknown; isTransaction?: unknown };
  if ((inTransaction ?? isTransaction) === false) throw notOpen(database);
}

function notOpen(connection: unknown): unknown {
  return argumentError("transaction", connection, "a connection whose transaction has begun");
}
