import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import mysql from "mysql2/promise";
import { Database } from "node-sqlite3-wasm";
import pg from "pg";
import {
  mysqlSink,
  oracleSink,
  postgresSink,
  type Sink,
  type SinkOptions,
  type SqliteDatabase,
  sqliteSink,
} from "../../src/entries/sql.ts";
import { startMariadb } from "../harness/servers/mariadb.ts";
import { startPostgres } from "../harness/servers/postgres.ts";
import { OracleDriver } from "./sql/oracle-driver.ts";

/** A database, and a sink into it. */
export interface Stage {
  sink(options?: SinkOptions): Sink;
  /** Runs a statement of one's own, where a test may. */
  run?(text: string): Promise<unknown>;
  stop(): Promise<void>;
}

export const STAGES: Record<string, () => Promise<Stage>> = {
  PostgreSQL: async () => {
    const server = await startPostgres();
    const pool = new pg.Pool({ connectionString: server.url, max: 10, options: "-c timezone=America/St_Johns" });
    return {
      sink: (options) => postgresSink(pool, options),
      run: (text) => pool.query(text),
      stop: async () => {
        await pool.end();
        await server.stop();
      },
    };
  },
  MariaDB: async () => {
    const server = await startMariadb();
    const pool = mariadbPool(server.port);
    return {
      sink: (options) => mysqlSink(pool, options),
      run: (text) => pool.query(text),
      stop: async () => {
        await pool.end();
        await server.stop();
      },
    };
  },
  SQLite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "oriel-sqlite-"));
    const database = new Database(join(folder, "counts.db"));
    return {
      sink: (options) => sqliteSink(database, options),
      run: async (text) => database.exec(text),
      stop: async () => {
        database.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  "recorded Oracle": async () => {
    const driver = new OracleDriver();
    return {
      sink: (options) => oracleSink(driver, options),
      stop: async () => driver.close(),
    };
  },
};

/** Node's own SQLite, from Node 22.5 on. */
const node = process.getBuiltinModule?.("node:sqlite") as
  | { DatabaseSync: new (path: string) => SqliteDatabase & { close(): void } }
  | undefined;
if (node)
  STAGES["Node's SQLite"] = async () => {
    const database = new node.DatabaseSync(":memory:");
    return {
      sink: (options) => sqliteSink(database, options),
      stop: async () => database.close(),
    };
  };

function mariadbPool(port: number, connections = 10) {
  return mysql.createPool({
    host: "127.0.0.1",
    port,
    user: "root",
    database: "oriel",
    connectionLimit: connections,
    // A connection.s own habits: none may matter to a sink.
    dateStrings: false,
    timezone: "+05:30",
    supportBigNumbers: false,
  });
}
