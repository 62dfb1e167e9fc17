import { OrielError } from "../../../../base/errors.ts";
import type { Fields } from "../answers.ts";
import type { Failure, Session } from "../transaction.ts";

/** The used part of a pool of mysql2/promise. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** The part of a connection of mysql2 that the sink uses. */
export interface MysqlConnection {
  query(text: string): Promise<[unknown, unknown]>;
  release(): void;
  destroy(): void;
}

const DEADLOCK = 1213;
const LOCK_WAIT = 1205;
const DUPLICATE = 1062;
/** Error numbers of statements that took too long, in MariaDB and in MySQL (killed, or over its limit for reads). */
const LATE = [1969, 1317, 3024];
/** Error numbers of lost connections, shutdown, read-only primaries and exhausted resources. */
const TRANSIENT = [
  1040, 1042, 1043, 1053, 1077, 1079, 1129, 1152, 1158, 1159, 1160, 1161, 1180, 1203, 1206, 1290, 1836,
];
/** The server's time-outs come before the client's, so that the connection can be used again. */
const SERVER_SHARE = 0.8;
const RESTORE =
  "SET SESSION innodb_lock_wait_timeout = @oriel_lock_wait /*M!, max_statement_time = @oriel_statement */";

export class MysqlSession implements Session {
  readonly #connection: MysqlConnection;
  #isLimited = false;
  #isGone = false;

  constructor(connection: MysqlConnection) {
    this.#connection = connection;
  }

  /**
   * Sets the session's time-outs, which `release` restores, and begins the transaction. Lock waits are in whole
   * seconds.
   */
  async begin(texts: readonly string[], leftMs: number): Promise<void> {
    if (leftMs !== Number.POSITIVE_INFINITY) {
      const seconds = Math.max(0.001, (leftMs * SERVER_SHARE) / 1000);
      this.#isLimited = true;
      await this.send(
        "SET @oriel_lock_wait = @@SESSION.innodb_lock_wait_timeout, " +
          `SESSION innodb_lock_wait_timeout = ${Math.min(Math.max(1, Math.floor(seconds)), 1_000_000)} ` +
          `/*M!, @oriel_statement = @@SESSION.max_statement_time, max_statement_time = ${seconds.toFixed(3)} */`,
      );
    }
    for (const text of texts) await this.send(text);
  }

  /** Returns the number of affected rows. */
  async send(text: string): Promise<number> {
    const [result] = await this.#connection.query(text);
    return (result as { affectedRows?: number }).affectedRows ?? 0;
  }

  async rows(text: string): Promise<Fields[]> {
    const [rows] = await this.#connection.query(text);
    return rows as Fields[];
  }

  commit(): Promise<unknown> {
    return this.#connection.query("COMMIT");
  }

  rollback(): Promise<unknown> {
    return this.#connection.query("ROLLBACK");
  }

  async release(): Promise<void> {
    if (this.#isLimited) await this.#connection.query(RESTORE);
    if (!this.#isGone) this.#connection.release();
    this.#isGone = true;
  }

  destroy(): void {
    if (!this.#isGone) this.#connection.destroy();
    this.#isGone = true;
  }
}

function errorNumber(error: unknown): number | undefined {
  const number = (error as { errno?: unknown })?.errno;
  return typeof number === "number" && number > 0 ? number : undefined;
}

/** Classifies by the server's error number. An error without one comes from the connection. */
export function mysqlFailure(error: unknown): Failure {
  const number = errorNumber(error);
  if (number === undefined || number === DEADLOCK || TRANSIENT.includes(number)) return "transient";
  return number === LOCK_WAIT || LATE.includes(number) ? "late" : "permanent";
}

/**
 * Whether the server ended the transaction in favour of another one, which may have inserted the ledger's first row.
 */
export function rolledBack(error: unknown): boolean {
  if (!(error instanceof OrielError) || error.applied !== "no") return false;
  return [DEADLOCK, LOCK_WAIT, DUPLICATE].includes(errorNumber(error.cause) ?? 0);
}
