// Where the database servers of the tests are: named, on the machine, or unpacked beneath node_modules/.oriel.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const unpacked = (name) => join(root, "node_modules", ".oriel", name);

/** The environment in which a program of an unpacked package finds the libraries that were unpacked with it. */
function withLibraries(folder) {
  const paths = ["usr/lib", "lib"].flatMap((name) => {
    const libraries = join(folder, name);
    const machines = existsSync(libraries) ? readdirSync(libraries).filter((entry) => entry.includes("-linux-")) : [];
    return machines.map((machine) => join(libraries, machine));
  });
  return { ...process.env, LD_LIBRARY_PATH: [...paths, process.env.LD_LIBRARY_PATH].filter(Boolean).join(":") };
}

function works(command, env) {
  return spawnSync(command, ["--version"], { stdio: "ignore", env }).status === 0;
}

/** Folders `<folder>/<name>/bin` where a name begins so, newest first. */
function versions(folder, start = "") {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(start));
  return names
    .sort((a, b) => Number.parseInt(b.slice(start.length), 10) - Number.parseInt(a.slice(start.length), 10))
    .map((name) => join(folder, name, "bin"));
}

/** { bin, env }: the folder of `initdb` and `postgres` ("" is PATH); undefined where there is none. */
export function findPostgres() {
  const named = process.env.ORIEL_POSTGRES_BIN;
  const own = unpacked("postgresql");
  const system = [
    "",
    ...versions("/usr/lib/postgresql"),
    ...["/opt/homebrew/opt", "/usr/local/opt"].flatMap((folder) => versions(folder, "postgresql@")),
  ];
  const candidates = [
    ...(named ? [named] : system).map((bin) => ({ bin, env: process.env })),
    ...(named ? [] : versions(join(own, "usr", "lib", "postgresql"))).map((bin) => ({ bin, env: withLibraries(own) })),
  ];
  return candidates.find(({ bin, env }) => ["initdb", "postgres"].every((name) => works(join(bin, name), env)));
}

/** { server, share, env }: mariadbd and the folder of its messages and system tables; undefined where there is none. */
export function findMariadb() {
  const named = process.env.ORIEL_MARIADB_SERVER;
  const own = unpacked("mariadb");
  const brewed = ["/opt/homebrew/opt/mariadb/bin/mariadbd", "/usr/local/opt/mariadb/bin/mariadbd"];
  const candidates = [
    ...(named ? [named] : ["mariadbd", "/usr/sbin/mariadbd", ...brewed]).map((server) => ({
      server,
      env: process.env,
    })),
    ...(named ? [] : [{ server: join(own, "usr", "sbin", "mariadbd"), env: withLibraries(own) }]),
  ];
  for (const { server, env } of candidates) {
    if (!works(server, env)) continue;
    const bases = [join(dirname(server), ".."), "/usr"];
    const share = bases
      .flatMap((base) => ["mysql", "mariadb"].map((name) => join(base, "share", name)))
      .find((folder) => existsSync(join(folder, "mysql_system_tables.sql")));
    if (share) return { server, share, env };
  }
  return undefined;
}
