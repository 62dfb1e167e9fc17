import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import mysql from "mysql2/promise";
import { Database } from "node-sqlite3-wasm";
import pg from "pg";
import { mysqlSink, oracleSink, postgresSink, type Sink, type SinkOptions, sqliteSink } from "../../src/sql.ts";
import { startMariadb } from "../harness/mariadb.ts";
import { startPostgres } from "../harness/postgres.ts";
import { OracleDriver } from "./oracle-driver.ts";

/** A database, and a sink into it. */
export interface Stage {
  sink(options?: SinkOptions): Sink;
  /** Runs a statement as a user would; rows with their columns as the driver gives them. */
  ask(text: string): Promise<Record<string, unknown>[]>;
  /** Quotes an identifier. */
  quoted(name: string): string;
  stop(): Promise<void>;
}

export const STAGES: Record<string, () => Promise<Stage>> = {
  PostgreSQL: async () => {
    const server = await startPostgres();
    const pool = new pg.Pool({ connectionString: server.url, max: 10 });
    return {
      sink: (options) => postgresSink(pool, options),
      ask: async (text) => (await pool.query(text)).rows,
      quoted: (name) => `"${name.replaceAll('"', '""')}"`,
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
      ask: async (text) => (await pool.query(text))[0] as Record<string, unknown>[],
      quoted: (name) => `\`${name.replaceAll("`", "``")}\``,
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
      ask: async (text) => database.all(text) as Record<string, unknown>[],
      quoted: (name) => `"${name.replaceAll('"', '""')}"`,
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
      ask: async (text) => {
        const connection = await driver.getConnection();
        const { rows = [] } = await connection.execute(text, [], {});
        await connection.commit();
        await connection.close();
        return rows as Record<string, unknown>[];
      },
      quoted: (name) => `"${name.toUpperCase()}"`,
      stop: async () => driver.close(),
    };
  },
};

export function mariadbPool(port: number, connections = 10) {
  return mysql.createPool({
    host: "127.0.0.1",
    port,
    user: "root",
    database: "oriel",
    connectionLimit: connections,
    // A connection.s own habits: none may matter to a sink.
    dateStrings: false,
    supportBigNumbers: false,
  });
}
