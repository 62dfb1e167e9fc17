import { mysqlSink, postgresSink, type Sink, type SinkOptions } from "../../src/entries/sql.ts";
import { mysql, pg } from "../../test/drain/sql/clients.ts";
import { startMariadb } from "../../test/harness/servers/mariadb.ts";
import { startPostgres } from "../../test/harness/servers/postgres.ts";
import { type AddRow, mysqlPerRow, postgresPerRow } from "../rivals/sql-per-row.ts";

/** "default": a commit is on disk. "relaxed": a crash of the machine may lose the last commits. */
export type Durability = "default" | "relaxed";

/** The connections to a database with one durability of commits. Both writers use the same ones. */
export interface SqlLink {
  sink(options: SinkOptions): Sink;
  /** The rival writer, one for each connection. */
  perRow(table: string): Promise<AddRow[]>;
  /** Sum of the counts of a table. */
  sum(table: string): Promise<bigint>;
  close(): Promise<void>;
}

export interface SqlDatabase {
  readonly name: string;
  link(connections: number, durability: Durability): Promise<SqlLink>;
  stop(): Promise<void>;
}

export async function benchPostgres(): Promise<SqlDatabase> {
  const server = await startPostgres({ settings: ["fsync=on"] });
  return {
    name: "PostgreSQL",
    link: async (connections, durability) => {
      const options = `-c synchronous_commit=${durability === "default" ? "on" : "off"}`;
      const pool = new pg.Pool({ connectionString: server.url, max: connections, options });
      return {
        sink: (sinkOptions) => postgresSink(pool, sinkOptions),
        perRow: async (table) => {
          const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
          for (const client of clients) client.release(); // no one else uses the pool now
          return clients.map((client) => postgresPerRow(client, table));
        },
        sum: async (table) => BigInt((await pool.query(`SELECT sum("count") AS n FROM "${table}"`)).rows[0].n),
        close: () => pool.end(),
      };
    },
    stop: server.stop,
  };
}

export async function benchMariadb(): Promise<SqlDatabase> {
  const server = await startMariadb({ args: ["--innodb-flush-log-at-trx-commit=1"] });
  return {
    name: "MariaDB",
    link: async (connections, durability) => {
      const address = { host: "127.0.0.1", port: server.port, user: "root", database: "oriel" };
      const pool = mysql.createPool({ ...address, connectionLimit: connections, supportBigNumbers: true });
      await pool.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${durability === "default" ? 1 : 2}`);
      return {
        sink: (sinkOptions) => mysqlSink(pool, sinkOptions),
        perRow: async (table) => {
          const own = await Promise.all(Array.from({ length: connections }, () => pool.getConnection()));
          for (const connection of own) connection.release();
          return own.map((connection) => mysqlPerRow(connection, table));
        },
        sum: async (table) => {
          const [rows] = await pool.query(`SELECT CAST(SUM(\`count\`) AS CHAR) AS n FROM \`${table}\``);
          return BigInt((rows as { n: string }[])[0]!.n);
        },
        close: () => pool.end(),
      };
    },
    stop: server.stop,
  };
}
