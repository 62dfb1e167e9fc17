import { argumentError } from "../base/errors.ts";

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
export async function checkOpenInPostgres(connection: object): Promise<void> {
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
export async function checkOpenInMysql(client: { execute(text: string, values: string[]): Promise<unknown> }) {
  const [{ serverStatus }] = (await client.execute("DO 0", [])) as [{ serverStatus?: unknown }];
  if (typeof serverStatus !== "number") return;
  if ((serverStatus & IN_TRANSACTION) === 0 && (serverStatus & AUTOCOMMIT) !== 0) throw notOpen(client);
}

/** The same for SQLite. Drivers have no common name for the flag, and some have none. */
export function checkOpenInSqlite(database: { exec: unknown }): void {
  const { inTransaction, isTransaction } = database as { inTransaction?: unknown; isTransaction?: unknown };
  if ((inTransaction ?? isTransaction) === false) throw notOpen(database);
}

function notOpen(connection: unknown): unknown {
  return argumentError("transaction", connection, "a connection whose transaction has begun");
}
