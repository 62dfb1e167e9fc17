// Completes the lock files: npm leaves out optional packages for other platforms when its registry had no copy of them
// as the lock was written, and `npm ci` then refuses the lock. Each is added with the version that its parent asks for
// and the platform that its name says, so that `npm ci` skips it here and fetches it there.
// Run it after each `npm install` that changed a lock file: node scripts/complete-lock.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const LOCKED_FOLDERS = [
  ".",
  "bench",
  "test/http",
  "test/exporters",
  "test/drain",
  "test/runtimes",
  "test/dashboard",
  "docs",
  "test/examples",
];

const SYSTEMS = /\b(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)\b/;
const PROCESSORS = /\b(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)\b/;
const LIBRARIES = [
  [/musl/, "musl"],
  [/gnu|glibc/, "glibc"],
];

export function lockFile(folder) {
  return join(root, folder, "package-lock.json");
}

/** Optional dependencies without an entry: [path of the entry, version, the parent's entry]. */
export function missingPackages({ packages }) {
  const missing = new Map();
  for (const [path, parent] of Object.entries(packages))
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      if (placesOf(path, name).some((place) => place in packages)) continue;
      missing.set(`node_modules/${name}`, { name, version, parent });
    }
  return missing;
}

/** Where Node looks for a package from another one's folder, the nearest first. */
function placesOf(path, name) {
  const places = [];
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1))) {
    places.push(`${folder}${folder === "" ? "" : "/"}node_modules/${name}`);
    if (folder === "") return places;
  }
}

function entryOf({ name, version, parent }) {
  const entry = { version, optional: true };
  if (parent.dev) entry.dev = true;
  const system = SYSTEMS.exec(name)?.[1];
  const processor = PROCESSORS.exec(name)?.[1];
  if (!/^\d+\.\d+\.\d+/.test(version) || !system || !processor)
    throw new Error(`${name}@${version}: the platform and the version cannot be read from it; add its entry by hand`);
  const library = system === "linux" ? LIBRARIES.find(([sign]) => sign.test(name))?.[1] : undefined;
  return { ...entry, cpu: [processor], os: [system], ...(library && { libc: [library] }) };
}

function complete(folder) {
  const lock = JSON.parse(readFileSync(lockFile(folder), "utf8"));
  const missing = missingPackages(lock);
  for (const [path, found] of missing) lock.packages[path] = entryOf(found);
  const [first, ...rest] = Object.keys(lock.packages);
  const sorted = [first, ...rest.sort((a, b) => a.localeCompare(b, "en"))];
  lock.packages = Object.fromEntries(sorted.map((path) => [path, lock.packages[path]]));
  if (missing.size > 0) writeFileSync(lockFile(folder), `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${folder}: ${missing.size} added`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  for (const folder of LOCKED_FOLDERS) complete(folder);
