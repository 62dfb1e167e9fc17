// Makes a fresh machine ready: packages (from lock files), build, Redis, Valkey, the bench's rivals, web frameworks,
// databases and their clients, Prometheus, JavaScript's runtimes, Python. Nothing is installed outside the project's folder.
// Plain Node, no dependency: it runs before anything is installed. What is already there is left alone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installForCommand } from "./command/install.mjs";
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

/** The packages that `npm start` needs. An installation that is there is completed instead. */
async function installCommandPackages() {
  const stamp = join(root, "node_modules", ".oriel", "command", "installed");
  const modules = join(root, "node_modules");
  const isWhole = existsSync(join(modules, ".package-lock.json"));
  if (!isWhole && existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs)
    return;
  if (existsSync(modules)) return installPackages(root);
  console.log("installing the packages of the command");
  await installForCommand(root, run);
}

const BUILT = join(root, "node_modules", ".oriel", "built");
const BUILT_COMMAND = join(root, "node_modules", ".oriel", "built-command");

/** Whether the stamp of an earlier build is newer than all sources. */
function isFresh(stamp) {
  const sources = ["src", "lua", "layouts", "assembly", "scripts", "package.json", "asconfig.json"];
  const changedMs = Math.max(...sources.map((name) => newestMs(join(root, name))));
  return existsSync(join(root, "dist")) && existsSync(stamp) && statSync(stamp).mtimeMs > changedMs;
}

async function build() {
  if (isFresh(BUILT)) return;
  console.log("building");
  await run("npm", ["run", "--silent", "build"]);
  mark(BUILT);
}

/** Builds only the command `oriel`. Declarations of types, which take most of a build, are left out. */
async function buildCommand() {
  if (isFresh(BUILT) || isFresh(BUILT_COMMAND)) return;
  console.log("building the command");
  await run("npm", ["run", "--silent", "build:command"]);
  mark(BUILT_COMMAND);
}

function mark(stamp) {
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
  "--dashboard": "test/dashboard",
  "--docs": "docs",
  "--examples": "test/examples",
};

async function installFolders() {
  const folders = Object.keys(FOLDERS).filter((option) => wants.has(option));
  // Together, because each of them mostly waits for the registry.
  await Promise.all(folders.map((option) => installPackages(join(root, FOLDERS[option]))));
}

await (wants.has("--command") ? installCommandPackages() : installPackages(root));
// The build occupies one core, and installing mostly waits for the registry and the disk.
if (wants.has("--command")) await buildCommand();
await Promise.all([
  wants.has("--build") && build(),
  installFolders(),
  wants.has("--servers") && ensureServers(),
  // In a process of its own, because it unpacks programs without a pause.
  run(process.execPath, [join(root, "scripts", "ensure-programs.mjs"), ...wants]),
]);
