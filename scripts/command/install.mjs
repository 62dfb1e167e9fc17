// Installs what `npm start` needs, in a clone without packages: a tenth of all packages, in a fifth of the time. The rest
// follows with the next command that needs it. Plain Node, no dependency: it runs before anything is installed.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What builds the command. What is inside the command, and its clients, come from the manifest. */
const BUILDERS = ["assemblyscript", "esbuild", "@fontsource/inter", "uplot"];
const INSIDE = ["cli-progress", "commander", "csv-parse", "picocolors", "string-width"];

/** The names of the packages, out of a package.json. */
export function neededPackages({ dependencies, devDependencies }) {
  const charts = Object.keys(devDependencies).filter((name) => name.startsWith("d3-"));
  return [...BUILDERS, ...INSIDE, ...charts, ...Object.keys(dependencies)];
}

/** The entries of a package-lock.json that these packages need. */
export function lockedPart(packages, names) {
  const part = {};
  const take = (from, name) => {
    const path = pathOf(packages, from, name);
    if (path === undefined || path in part) return;
    part[path] = packages[path];
    const { dependencies, optionalDependencies } = packages[path];
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) take(path, needed);
  };
  for (const name of names) take("", name);
  return part;
}

/** Where Node finds a package that the package at the path `from` imports. */
function pathOf(packages, from, name) {
  const path = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
  if (path in packages) return path;
  return from === ""
    ? undefined
    : pathOf(packages, from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1)), name);
}

/** `run(command, args, folder)` rejects or ends the process if the command fails. */
export async function installForCommand(root, run) {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const names = neededPackages(manifest);
  const all = { ...manifest.devDependencies, ...manifest.dependencies };
  const own = { name: "oriel", dependencies: Object.fromEntries(names.map((name) => [name, all[name]])) };
  const part = { ...lock, packages: { "": own, ...lockedPart(lock.packages, names) } };
  const folder = join(root, "node_modules", ".oriel", "command");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify(own));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(part));
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder);
  const installed = join(folder, "node_modules");
  // Without npm's own list of what is installed, the next installation looks at the packages, and adds the others.
  for (const name of readdirSync(installed))
    if (name !== ".package-lock.json") renameSync(join(installed, name), join(root, "node_modules", name));
  rmSync(installed, { recursive: true });
  writeFileSync(join(folder, "installed"), "");
}
