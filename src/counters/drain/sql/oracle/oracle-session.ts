import type { Fields } from "../answers.ts";
import type { Failure, Session } from "../transaction.ts";

/** The used part of a pool of oracledb. */
export interface OraclePool {
  getConnection(): Promise<OracleConnection>;
}

/** The part of a connection of node-oracledb that the sink uses. */
export interface OracleConnection {
  /** Maximum ms of one round trip; 0 is no limit. */
  callTimeout?: number;
  execute(text: string, binds: unknown[], options: object): Promise<{ rows?: unknown[]; rowsAffected?: number }>;
  executeMany(text: string, binds: unknown[][], options: object): Promise<OracleManyResult>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Cancels the running statement. */
  break(): Promise<void>;
  close(options?: { drop?: boolean }): Promise<void>;
}

/** What `executeMany` of node-oracledb returns. */
export interface OracleManyResult {
  rowsAffected?: number;
  dmlRowCounts?: number[];
  /** One for each row that failed; `offset` is its index in the binds. */
  batchErrors?: { errorNum?: number; offset?: number; message?: string }[];
}

export const UNIQUE_VIOLATED = 1;
/** The value of `oracledb.OUT_FORMAT_OBJECT`, which is part of its interface. */
const OBJECTS = { outFormat: 4002 };
/** The driver's time-out comes before the client's. It cancels the call, and the connection can be used again. */
const DRIVER_SHARE = 0.8;
/** Lost or refused connections, deadlocks, busy resources, and instances that start, stop or are not primary. */
const TRANSIENT = [
  UNIQUE_VIOLATED,
  28,
  54,
  60,
  1012,
  1033,
  1034,
  1089,
  1090,
  1092,
  2396,
  3113,
  3114,
  3135,
  8177,
  12170,
  12514,
  12541,
  16000,
  25408,
];

export class OracleSession implements Session {
  readonly #connection: OracleConnection;
  readonly #callTimeout: number | undefined;
  #isGone = false;

  constructor(connection: OracleConnection) {
    this.#connection = connection;
    this.#callTimeout = connection.callTimeout;
  }

  /** Sets the limit of each round trip. Transactions begin implicitly. */
  limit(leftMs: number): void {
    if (leftMs !== Number.POSITIVE_INFINITY)
      this.#connection.callTimeout = Math.max(1, Math.floor(leftMs * DRIVER_SHARE));
  }

  /** Returns the number of affected rows. */
  async send(text: string, binds: unknown[] = []): Promise<number> {
    return (await this.#connection.execute(text, binds, { autoCommit: false })).rowsAffected ?? 0;
  }

  async rows(text: string, binds: unknown[] = []): Promise<Fields[]> {
    const { rows = [] } = await this.#connection.execute(text, binds, { ...OBJECTS, maxRows: 0, autoCommit: false });
    return rows as Fields[];
  }

  many(text: string, binds: unknown[][], options: object): Promise<OracleManyResult> {
    return this.#connection.executeMany(text, binds, { autoCommit: false, ...options });
  }

  commit(): Promise<void> {
    return this.#connection.commit();
  }

  rollback(): Promise<void> {
    return this.#connection.rollback();
  }

  async release(): Promise<void> {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.#connection.callTimeout !== this.#callTimeout) this.#connection.callTimeout = this.#callTimeout ?? 0;
    await this.#connection.close();
  }

  /** A connection closes only after its statement, so this cancels the statement and drops it from the pool. */
  destroy(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#connection.break().catch(() => {});
    this.#connection.close({ drop: true }).catch(() => {});
  }
}

/** Classifies by the number in ORA-nnnnn. Errors of the driver (NJS, DPI) concern the connection or a time-out. */
export function oracleFailure(error: unknown): Failure {
  const { errorNum, message, isRecoverable } = (error ?? {}) as Record<string, unknown>;
  if (/NJS-123|DPI-1067|callTimeout|timed out/.test(String(message)) || errorNum === 1013) return "late";
  if (isRecoverable === true || typeof errorNum !== "number" || errorNum === 0) return "transient";
  return TRANSIENT.includes(errorNum) ? "transient" : "permanent";
}
