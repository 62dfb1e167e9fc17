import { Database } from "node-sqlite3-wasm";
import type { OracleConnection, OracleManyResult, OraclePool } from "../../../src/entries/sql.ts";

/** One call of the driver as it came in. */
export interface OracleCall {
  readonly method: "execute" | "executeMany" | "commit" | "rollback" | "close";
  readonly text: string;
  /** How many rows of binds. */
  readonly rows: number;
}

/** What Oracle says where a call fails. */
export class OracleError extends Error {
  readonly errorNum: number;
  offset?: number;

  constructor(errorNum: number, text: string) {
    super(`ORA-${String(errorNum).padStart(5, "0")}: ${text}`);
    this.errorNum = errorNum;
  }
}

/**
 * A pool that records what it is asked and behaves as the documents of oracledb say: transactions begin by themselves,
 * the empty text is NULL, executeMany has dmlRowCounts and batchErrors, a closed connection rolls back. Its tables are
 * in SQLite, for which the few functions of Oracle that oriel uses are rewritten. One transaction at a time.
 */
export class OracleDriver implements OraclePool {
  readonly calls: OracleCall[] = [];
  /** Connections that were dropped instead of given back. */
  dropped = 0;
  /** Runs before each call; what it throws is the call's failure. */
  before: (call: OracleCall) => void | Promise<void> = () => {};
  /** Runs after each call; what it throws is the call's failure, which has had its effect. */
  after: (call: OracleCall) => void | Promise<void> = () => {};
  readonly #database = new Database(":memory:");
  #last: Promise<void> = Promise.resolve();

  async getConnection(): Promise<OracleConnection> {
    let done!: () => void;
    const turn = this.#last;
    this.#last = new Promise((resolve) => {
      done = resolve;
    });
    await turn;
    return new Connection(this, this.#database, done);
  }

  close(): void {
    this.#database.close();
  }

  async record<T>(method: OracleCall["method"], text: string, rows: number, run: () => T): Promise<T> {
    const call = { method, text, rows };
    this.calls.push(call);
    await this.before(call);
    const result = run();
    await this.after(call);
    return result;
  }
}

class Connection implements OracleConnection {
  callTimeout = 0;
  readonly #driver: OracleDriver;
  readonly #database: Database;
  readonly #done: () => void;
  #isOpen = true;

  constructor(driver: OracleDriver, database: Database, done: () => void) {
    this.#driver = driver;
    this.#database = database;
    this.#done = done;
  }

  execute(text: string, binds: unknown[]) {
    return this.#record("execute", text, 1, () => {
      if (text === "SET TRANSACTION READ ONLY") return {};
      const created = /EXECUTE IMMEDIATE '(.*)'; EXCEPTION/.exec(text)?.[1];
      if (created) {
        this.#database.exec(
          rewrite(created.replaceAll("''", "'")).replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"),
        );
        return { rowsAffected: 0 };
      }
      this.#begin();
      if (text.startsWith("SELECT")) return { rows: this.#database.all(rewrite(text), bound(binds)) };
      return { rowsAffected: this.#change(text, binds) };
    });
  }

  executeMany(text: string, binds: unknown[][], options: { dmlRowCounts?: boolean; batchErrors?: boolean }) {
    return this.#record("executeMany", text, binds.length, () => {
      if (binds.length === 0) throw new Error("NJS-005: invalid value for parameter 2");
      this.#begin();
      const counts: number[] = [];
      const errors: OracleError[] = [];
      for (const [offset, row] of binds.entries())
        try {
          counts.push(this.#change(text, row));
        } catch (error) {
          if (!options.batchErrors || !(error instanceof OracleError)) throw error;
          error.offset = offset;
          errors.push(error);
          counts.push(0);
        }
      const result: OracleManyResult = { rowsAffected: counts.reduce((sum, n) => sum + n, 0) };
      if (options.dmlRowCounts) result.dmlRowCounts = counts;
      if (errors.length > 0) result.batchErrors = errors;
      return result;
    });
  }

  commit() {
    return this.#record("commit", "", 0, () => this.#end("COMMIT"));
  }

  rollback() {
    return this.#record("rollback", "", 0, () => this.#end("ROLLBACK"));
  }

  async break(): Promise<void> {}

  close({ drop = false } = {}) {
    return this.#record("close", "", 0, () => {
      this.#end("ROLLBACK");
      this.#isOpen = false;
      if (drop) this.#driver.dropped++;
      this.#done();
    });
  }

  #record<T>(method: OracleCall["method"], text: string, rows: number, run: () => T): Promise<T> {
    return this.#driver.record(method, text, rows, () => {
      if (!this.#isOpen) throw new Error("NJS-003: invalid or closed connection");
      return run();
    });
  }

  #begin(): void {
    if (!this.#database.inTransaction) this.#database.exec("BEGIN");
  }

  #end(how: "COMMIT" | "ROLLBACK"): void {
    if (this.#database.inTransaction) this.#database.exec(how);
  }

  #change(text: string, binds: unknown[]): number {
    try {
      return this.#database.run(rewrite(text), bound(binds)).changes;
    } catch (error) {
      const { message } = error as Error;
      if (/UNIQUE/.test(message)) throw new OracleError(1, "unique constraint violated");
      if (/no such table/.test(message)) throw new OracleError(942, "table or view does not exist");
      if (/NOT NULL/.test(message)) throw new OracleError(1400, "cannot insert NULL");
      if (/CHECK/.test(message)) throw new OracleError(1438, "value larger than specified precision");
      throw error;
    }
  }
}

const known = new Map<string, string>();

/** The SQLite text of one of oriel's for Oracle. */
function rewrite(text: string): string {
  let found = known.get(text);
  if (!found) {
    found = text
      .replace(/TO_NUMBER\(:(\d+)\)/g, "CAST(?$1 AS INTEGER)")
      .replace(/TO_TIMESTAMP\(:(\d+), '[^']*(''[^']*)*'\)/g, "?$1")
      .replace(/TO_CHAR\(("[^"]+")(, '[^']*')?\)/g, "CAST($1 AS TEXT)")
      .replace(/:(\d+)/g, "?$1")
      .replace(" FOR UPDATE", "")
      .replace(/("[^"]+") NUMBER\(19\) NOT NULL/g, "$1 INTEGER NOT NULL CHECK (typeof($1) = 'integer')")
      .replace(/NUMBER\(\d+\)/g, "INTEGER")
      .replace(/VARCHAR2\((\d+) CHAR\)|TIMESTAMP\(0\)/g, "TEXT");
    known.set(text, found);
  }
  return found;
}

function bound(binds: unknown[]) {
  return binds.map((value) => {
    if (typeof value !== "string") throw new Error(`a bind is ${typeof value}; oriel binds texts only`);
    return value === "" ? null : value;
  });
}
