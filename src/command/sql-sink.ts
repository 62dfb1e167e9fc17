import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { argumentError, OrielError } from "../base/errors.ts";
import {
  mysqlSink,
  postgresSink,
  type Sink,
  type SinkOptions,
  type SqliteDatabase,
  sqliteSink,
} from "../entries/sql.ts";

export interface SinkTyped {
  table?: string;
  ledgerTable?: string;
  /** A folder whose node_modules have the database's driver. */
  drivers: string;
}

interface Pool {
  end(): Promise<void>;
}

/**
 * Opens the sink of a database URL; returns it and a function that closes it. Throws ARGUMENT if no driver is
 * installed.
 */
export async function openSink(
  url: string,
  { table, ledgerTable, drivers }: SinkTyped,
): Promise<{ sink: Sink; close(): Promise<void> }> {
  const options: SinkOptions = {
    ...(table !== undefined && { table }),
    ...(ledgerTable !== undefined && { ledgerTable }),
  };
  if (/^postgres(ql)?:/.test(url)) {
    const { Pool } = (await driver(drivers, ["pg"])) as { Pool: new (of: object) => Pool & never };
    const pool = new Pool({ connectionString: url, max: 2 });
    return { sink: postgresSink(pool, options), close: () => (pool as Pool).end() };
  }
  if (/^(mysql|mariadb):/.test(url)) {
    const { createPool } = (await driver(drivers, ["mysql2/promise"])) as { createPool(of: object): Pool & never };
    const pool = createPool({ uri: url.replace(/^mariadb:/, "mysql:"), connectionLimit: 2 });
    return { sink: mysqlSink(pool, options), close: () => (pool as Pool).end() };
  }
  if (/^sqlite:./.test(url)) {
    const database = await openSqlite(drivers, url.replace(/^sqlite:(\/\/)?/, ""));
    return { sink: sqliteSink(database, options), close: async () => database.close() };
  }
  // The URL may hold a password.
  throw argumentError("--sql", url.split(":")[0], "postgres://…, mysql://…, mariadb://… or sqlite:<file>");
}

async function openSqlite(drivers: string, file: string): Promise<SqliteDatabase & { close(): void }> {
  const module = (await driver(drivers, ["node:sqlite", "better-sqlite3", "node-sqlite3-wasm"])) as Record<
    string,
    unknown
  >;
  const make = (module.DatabaseSync ?? module.Database ?? module) as new (
    file: string,
  ) => SqliteDatabase & { close(): void };
  return new make(file);
}

/** The first of these modules that is installed. */
async function driver(folder: string, names: readonly string[]): Promise<unknown> {
  const require = createRequire(join(resolve(folder), "package.json"));
  for (const name of names) {
    if (name.startsWith("node:")) {
      const own = process.getBuiltinModule?.(name as never);
      if (own) return own;
      continue;
    }
    let file: string;
    try {
      file = require.resolve(name);
    } catch {
      continue;
    }
    const module = await import(pathToFileURL(file).href);
    return module.default ?? module;
  }
  throw new OrielError(
    "ARGUMENT",
    `${names.join(" or ")} is not installed in ${resolve(folder)}; --drivers names a folder whose node_modules have it`,
  );
}
