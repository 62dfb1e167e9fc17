// Makes a fresh machine ready: packages (from lock files), build, Redis, Valkey, the bench's rivals, web frameworks,
// databases and their clients, JavaScript's runtimes, Python. Nothing is installed outside the project's folder.
// Plain Node, no dependency: it runs before anything is installed. What is already there is left alone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureChromium, ensureDatabases, ensurePython, ensureRedis, ensureValkey } from "./ensure-programs.mjs";
import { ensureServers } from "./servers/releases.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const wants = new Set(process.argv.slice(2));
const windows = process.platform === "win32";

async function run(command, args, cwd = root) {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"], shell: windows });
  const [status] = await once(child, "close");
  if (status !== 0) process.exit(status ?? 1);
}

/** Installs a folder's packages unless what is installed is as new as its lock file; install scripts are not needed. */
async function installPackages(folder) {
  const installed = join(folder, "node_modules", ".package-lock.json");
  const lock = join(folder, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log(`installing the packages of ${folder === root ? "oriel" : folder.slice(root.length + 1)}`);
  // `npm ci` would also remove the programs that were unpacked beneath node_modules.
  const isFirst = !existsSync(join(folder, "node_modules"));
  const install = isFirst ? ["ci"] : ["install", "--no-save"];
  await run("npm", [...install, "--ignore-scripts", "--no-audit", "--no-fund"], folder);
}

function newestMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path)
    .filter((name) => name !== "generated")
    .reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), stat.mtimeMs);
}

async function build() {
  const stamp = join(root, "node_modules", ".oriel", "built");
  const sources = ["src", "lua", "assembly", "scripts", "package.json", "tsup.config.ts", "asconfig.json"];
  const changed = Math.max(...sources.map((name) => newestMs(join(root, name))));
  if (existsSync(join(root, "dist")) && existsSync(stamp) && statSync(stamp).mtimeMs > changed) return;
  console.log("building");
  await run("npm", ["run", "--silent", "build"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, readFileSync(join(root, "package.json")));
}

/** The folders whose packages each option needs. */
const FOLDERS = {
  "--bench": "bench",
  "--http": "test/http",
  "--exporters": "test/exporters",
  "--sql": "test/drain",
  "--runtimes": "test/runtimes",
};

async function installFolders() {
  for (const [option, folder] of Object.entries(FOLDERS))
    if (wants.has(option)) await installPackages(join(root, folder));
}

await installPackages(root);
// The build occupies one core, and installing mostly waits for the registry and the disk.
await Promise.all([wants.has("--build") && build(), installFolders(), wants.has("--servers") && ensureServers()]);
if (wants.has("--redis")) ensureRedis();
if (wants.has("--valkey")) ensureValkey();
if (wants.has("--sql")) ensureDatabases();
if (wants.has("--python")) ensurePython();
if (wants.has("--runtimes")) ensureChromium();
