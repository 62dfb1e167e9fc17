// Where the programs of the tests are: named by an environment variable, on the machine, or unpacked beneath
// node_modules/.oriel. What was unpacked is started by a script in node_modules/.oriel/bin, which sets its libraries' path.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const unpacked = (name) => join(root, "node_modules", ".oriel", name);
const started = (program) => join(unpacked("bin"), program);

/** Folders of shared libraries in an unpacked package. */
export function libraryFolders(folder) {
  return ["usr/lib", "lib"].flatMap((name) => {
    const libraries = join(folder, name);
    const machines = existsSync(libraries) ? readdirSync(libraries).filter((entry) => entry.includes("-linux-")) : [];
    // Installed libraries find these folders by links and search paths of their own, unpacked ones do not.
    const inside = ["", "blas", "lapack", "pulseaudio"];
    return machines.flatMap((machine) => inside.map((each) => join(libraries, machine, each)));
  });
}

function withLibraries(folder) {
  const paths = [...libraryFolders(folder), process.env.LD_LIBRARY_PATH];
  return { ...process.env, LD_LIBRARY_PATH: paths.filter(Boolean).join(":") };
}

function works(command, args = ["--version"], env = process.env) {
  return spawnSync(command, args, { stdio: "ignore", env }).status === 0;
}

/** Path of the first program that can be started; a name in `variable` stands for all others. */
function first(variable, candidates) {
  const named = process.env[variable];
  return (named ? [named] : candidates).find((program) => works(program));
}

export function findRedis() {
  return first("ORIEL_REDIS_SERVER", ["redis-server", "valkey-server", started("redis-server")]);
}

export function findValkey() {
  return first("ORIEL_VALKEY_SERVER", ["valkey-server", started("valkey-server")]);
}

export function findRedisCli() {
  return first("ORIEL_REDIS_CLI", ["redis-cli", "valkey-cli", started("redis-cli")]);
}

export function findChromium() {
  const found = first("ORIEL_CHROMIUM", [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    started("chromium-headless-shell"),
  ]);
  return found && spawnSync("which", [found], { encoding: "utf8" }).stdout.trim();
}

/** { prometheus, promtool }: undefined without both. */
export function findPrometheus() {
  const prometheus = first("ORIEL_PROMETHEUS", ["prometheus", started("prometheus")]);
  const promtool = first("ORIEL_PROMTOOL", ["promtool", started("promtool")]);
  return prometheus && promtool ? { prometheus, promtool } : undefined;
}

/** A Python that can import the module. */
export function findPython(module) {
  const named = process.env.ORIEL_PYTHON;
  const candidates = named ? [named] : ["python3", "/usr/bin/python3", started("python3")];
  return candidates.find((program) => works(program, ["-c", `import ${module}`]));
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
  return candidates.find(({ bin, env }) =>
    ["initdb", "postgres"].every((name) => works(join(bin, name), ["--version"], env)),
  );
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
    if (!works(server, ["--version"], env)) continue;
    const bases = [join(dirname(server), ".."), "/usr"];
    const share = bases
      .flatMap((base) => ["mysql", "mariadb"].map((name) => join(base, "share", name)))
      .find((folder) => existsSync(join(folder, "mysql_system_tables.sql")));
    if (share) return { server, share, env };
  }
  return undefined;
}
