// Makes a fresh machine ready: packages (from lock files), build, Redis, Valkey, the bench's rivals, web frameworks,
// databases and their clients, JavaScript's runtimes.
// Plain Node, no dependency: it runs before anything is installed. What is already there is left alone.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureChromium } from "./chromium.mjs";
import { ensureDatabases } from "./databases.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const wants = new Set(process.argv.slice(2));
const windows = process.platform === "win32";

function run(command, args, cwd = root) {
  const done = spawnSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"], shell: windows });
  if (done.error) throw done.error;
  if (done.status !== 0) process.exit(done.status ?? 1);
}

/** Installs a folder's packages unless what is installed is as new as its lock file; install scripts are not needed. */
function installPackages(folder) {
  const installed = join(folder, "node_modules", ".package-lock.json");
  const lock = join(folder, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log(`installing the packages of ${folder === root ? "oriel" : folder.slice(root.length + 1)}`);
  // Not `npm ci`: the lock file cannot name what other platforms need where their packages were not to be had.
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], folder);
}

function newestMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path)
    .filter((name) => name !== "generated")
    .reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), stat.mtimeMs);
}

function build() {
  const stamp = join(root, "dist", ".built");
  const sources = ["src", "lua", "assembly", "scripts", "package.json", "tsup.config.ts", "asconfig.json"];
  const changed = Math.max(...sources.map((name) => newestMs(join(root, name))));
  if (existsSync(stamp) && statSync(stamp).mtimeMs > changed) return;
  console.log("building");
  run("npm", ["run", "--silent", "build"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, readFileSync(join(root, "package.json")));
}

function works(command, args) {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Finds a Redis server (ORIEL_REDIS_SERVER, redis-server, valkey-server) or installs it with the system's packages. */
function ensureRedis() {
  const named = process.env.ORIEL_REDIS_SERVER;
  if (
    named ? works(named, ["--version"]) : ["redis-server", "valkey-server"].some((name) => works(name, ["--version"]))
  )
    return;
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const steps = works("apt-get", ["--version"])
    ? [
        [...asRoot, "apt-get", "update"],
        [...asRoot, "apt-get", "install", "-y", "--no-install-recommends", "redis-server"],
      ]
    : works("brew", ["--version"])
      ? [["brew", "install", "redis"]]
      : [];
  console.log("installing redis-server");
  for (const [command, ...args] of steps)
    spawnSync(command, args, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  if (works("redis-server", ["--version"])) return;
  console.error(
    "The tests need a Redis server, version 7 or later: none is on PATH and the system's package manager gave none.\n" +
      "Install it (Debian: apt-get install redis-server; macOS: brew install redis), or name one in ORIEL_REDIS_SERVER.",
  );
  process.exit(1);
}

/**
 * A Valkey beside the Redis, so that the store's suite runs on both: unpacked from the system's packages, not installed.
 * Where that fails the suite says that it ran without.
 */
function ensureValkey() {
  const folder = join(root, "node_modules", ".oriel", "valkey");
  const servers = [process.env.ORIEL_VALKEY_SERVER ?? "valkey-server", join(folder, "usr", "bin", "valkey-server")];
  if (servers.some((server) => works(server, ["--version"])) || existsSync(folder)) return;
  if (!works("apt-get", ["--version"]) || !works("dpkg-deb", ["--version"])) return;
  console.log("unpacking valkey-server");
  mkdirSync(join(folder, "lists", "partial"), { recursive: true });
  const apt = (...args) => spawnSync("apt-get", args, { cwd: folder, encoding: "utf8", timeout: 60_000 });
  const packages = ["valkey-server", "valkey-tools"];
  if (apt("download", ...packages).status !== 0) {
    // Debian 12 has it in its backports only: their list is read beside the system's, which stay as they are.
    const format = "deb $(REPO_URI) $(CODENAME)-backports main";
    const { stdout } = apt("indextargets", "--format", format, "Created-By: Packages", "Codename: bookworm");
    writeFileSync(join(folder, "sources.list"), `${stdout?.split("\n")[0]}\n`);
    const options = [
      `Dir::Etc::SourceList=${folder}/sources.list`,
      "Dir::Etc::SourceParts=-",
      `Dir::State::Lists=${folder}/lists`,
      "Dir::Cache::pkgcache=",
      "Dir::Cache::srcpkgcache=",
      "APT::Sandbox::User=root",
    ].flatMap((option) => ["-o", option]);
    apt(...options, "update");
    apt(...options, "download", ...packages);
  }
  for (const name of readdirSync(folder))
    if (name.endsWith(".deb")) spawnSync("dpkg-deb", ["-x", name, "."], { cwd: folder, stdio: "ignore" });
}

installPackages(root);
if (wants.has("--bench")) installPackages(join(root, "bench"));
if (wants.has("--http")) installPackages(join(root, "test", "http"));
if (wants.has("--exporters")) installPackages(join(root, "test", "exporters"));
if (wants.has("--sql")) installPackages(join(root, "test", "drain"));
if (wants.has("--runtimes")) installPackages(join(root, "test", "runtimes"));
if (wants.has("--build")) build();
if (wants.has("--redis")) ensureRedis();
if (wants.has("--valkey")) ensureValkey();
if (wants.has("--sql")) ensureDatabases();
if (wants.has("--runtimes")) ensureChromium();
