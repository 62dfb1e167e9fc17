// Makes a fresh machine ready: packages (from lock files), build, Redis, Valkey, the bench's rivals, web frameworks,
// databases and their clients, JavaScript's runtimes, Python. Nothing is installed outside the project's folder.
// Plain Node, no dependency: it runs before anything is installed. What is already there is left alone.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureChromium, ensureDatabases, ensurePython, ensureRedis, ensureValkey } from "./ensure-programs.mjs";

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
  // `npm ci` would also remove the programs that were unpacked beneath node_modules.
  const isFirst = !existsSync(join(folder, "node_modules"));
  const install = isFirst ? ["ci"] : ["install", "--no-save"];
  run("npm", [...install, "--ignore-scripts", "--no-audit", "--no-fund"], folder);
}

function newestMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path)
    .filter((name) => name !== "generated")
    .reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), stat.mtimeMs);
}

function build() {
  const stamp = join(root, "node_modules", ".oriel", "built");
  const sources = ["src", "lua", "assembly", "scripts", "package.json", "tsup.config.ts", "asconfig.json"];
  const changed = Math.max(...sources.map((name) => newestMs(join(root, name))));
  if (existsSync(join(root, "dist")) && existsSync(stamp) && statSync(stamp).mtimeMs > changed) return;
  console.log("building");
  run("npm", ["run", "--silent", "build"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, readFileSync(join(root, "package.json")));
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
if (wants.has("--python")) ensurePython();
if (wants.has("--runtimes")) ensureChromium();
