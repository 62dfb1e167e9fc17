import { type InboxTransaction, inboxTable } from "../../src/queue/inbox.ts";
import { mysql, pg, Sqlite } from "../drain/sql/clients.ts";

export type Dialect = "postgres" | "mysql" | "sqlite";

/** An open transaction, and how the effect of a message is made in it. */
export interface Open {
  transaction: InboxTransaction;
  effect(id: string): Promise<unknown>;
}

type Say = (text: string) => Promise<unknown>;

export interface InboxDatabase {
  /** Commits what `run` did, or rolls it back where it throws. */
  transact<T>(run: (open: Open) => Promise<T>): Promise<T>;
  /** Passes on a connection on which no transaction has begun. */
  outside<T>(run: (open: { transaction: InboxTransaction; say: Say }) => Promise<T>): Promise<T>;
  /** The ids of all effects. */
  effects(): Promise<string[]>;
  close(): Promise<void>;
}

const EFFECTS = "CREATE TABLE IF NOT EXISTS effects (id";

/** `address`: URL of a PostgreSQL, port of a MariaDB, file of an SQLite. */
export function openDatabase(dialect: Dialect, address: string): Promise<InboxDatabase> {
  return { postgres: openPostgres, mysql: openMysql, sqlite: openSqlite }[dialect](address);
}

async function openPostgres(url: string): Promise<InboxDatabase> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  // Two that make a table at once would collide.
  await pool.query(
    `SELECT pg_advisory_lock(1); ${inboxTable("postgres")}; ${EFFECTS} text); SELECT pg_advisory_unlock(1)`,
  );
  return {
    async transact(run) {
      const client = await pool.connect();
      const effect = (id: string) => client.query("INSERT INTO effects VALUES ($1)", [id]);
      return ended({ transaction: client, effect }, run, (text) => client.query(text)).finally(() => client.release());
    },
    async outside(run) {
      const client = await pool.connect();
      return run({ transaction: client, say: (text) => client.query(text) }).finally(() => client.release());
    },
    effects: async () => (await pool.query<{ id: string }>("SELECT id FROM effects")).rows.map(({ id }) => id),
    close: () => pool.end(),
  };
}

async function openMysql(port: string): Promise<InboxDatabase> {
  const pool = mysql.createPool({ host: "127.0.0.1", port: Number(port), user: "root", database: "oriel" });
  await pool.query(inboxTable("mysql"));
  await pool.query(`${EFFECTS} VARCHAR(600) CHARACTER SET utf8mb4) ENGINE=InnoDB`);
  return {
    async transact(run) {
      const client = await pool.getConnection();
      const effect = (id: string) => client.execute("INSERT INTO effects VALUES (?)", [id]);
      return ended({ transaction: client, effect }, run, (text) => client.query(text)).finally(() => client.release());
    },
    async outside(run) {
      const client = await pool.getConnection();
      return run({ transaction: client, say: (text) => client.query(text) }).finally(() => client.release());
    },
    async effects() {
      const [rows] = await pool.query("SELECT id FROM effects");
      return (rows as { id: string }[]).map(({ id }) => id);
    },
    close: () => pool.end(),
  };
}

/** A connection for each transaction: while one writes, another one fails. */
async function openSqlite(file: string): Promise<InboxDatabase> {
  const first = new Sqlite(file);
  first.exec(`${inboxTable("sqlite")}; ${EFFECTS} TEXT)`);
  return {
    async transact(run) {
      const client = new Sqlite(file);
      const effect = async (id: string) => client.run("INSERT INTO effects VALUES (?)", id);
      const say = async (text: string) => client.exec(text.replace("BEGIN", "BEGIN IMMEDIATE"));
      return ended({ transaction: client, effect }, run, say).finally(() => client.close());
    },
    async outside(run) {
      const client = new Sqlite(file);
      return run({ transaction: client, say: async (text) => client.exec(text) }).finally(() => client.close());
    },
    effects: async () => first.all("SELECT id FROM effects").map(({ id }) => String(id)),
    close: async () => first.close(),
  };
}

async function ended<T>(open: Open, run: (open: Open) => Promise<T>, say: Say) {
  await say("BEGIN");
  try {
    const result = await run(open);
    await say("COMMIT");
    return result;
  } catch (error) {
    await say("ROLLBACK");
    throw error;
  }
}
