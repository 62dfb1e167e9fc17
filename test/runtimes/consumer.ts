import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { root } from "../house/sources.ts";
import { type Entry, mainOf, PRINT, SCRIPTS } from "./bundles/mains.ts";

const scripts = fileURLToPath(new URL("./script", import.meta.url));
const golden = fileURLToPath(new URL("./golden.json", import.meta.url));

function hashed(...files: string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

/** Every file of a folder that has no folders. */
const filesOf = (folder: string) => readdirSync(folder).map((name) => join(folder, name));

/**
 * The folder of a project that has installed the packed package as a user does, with the scripts in it. The first who asks
 * makes it, for all test files and runs in which the package is the same.
 */
export function consumer(): string {
  const here = `oriel-consumer-${createHash("sha256").update(root).digest("hex").slice(0, 8)}`;
  const state = [...filesOf(join(root, "dist")), join(root, "package.json"), ...filesOf(scripts), golden];
  const folder = join(tmpdir(), `${here}-${hashed(...state, fileURLToPath(import.meta.url))}`);
  if (existsSync(folder)) return folder;
  for (const name of readdirSync(tmpdir())) {
    const old = join(tmpdir(), name);
    if (name.startsWith(`${here}-`) && old !== folder) rmSync(old, { recursive: true, force: true });
  }
  const made = mkdtempSync(join(tmpdir(), "oriel-new-consumer-"));
  install(made);
  writeScripts(made);
  try {
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // else another test file was faster
    rmSync(made, { recursive: true });
  }
  return folder;
}

function install(folder: string): void {
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync("npm", [...args, "--silent"], { cwd, encoding: "utf8", shell: process.platform === "win32" }).trim();
  const tarball = npm(root, "pack", "--ignore-scripts", "--pack-destination", folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  npm(folder, "install", `./${tarball}`, "--no-audit", "--no-fund", "--prefer-offline");
}

function writeScripts(folder: string): void {
  cpSync(scripts, folder, { recursive: true });
  writeFileSync(join(folder, "golden.mjs"), `export default ${readFileSync(golden, "utf8")}`);
  for (const [entry, script] of Object.entries(SCRIPTS) as [Entry, string][]) {
    if (!existsSync(join(folder, script))) {
      const text = readFileSync(join(folder, "same-script.mjs"), "utf8");
      writeFileSync(join(folder, script), text.replace('from "oriel"', `from "${entry}"`));
    }
    const main = join(folder, script.replace(".mjs", "-main.mjs"));
    writeFileSync(main, mainOf(entry, PRINT));
    // As a user's CommonJS requires the package; the script itself is the same.
    const cjs = { format: "cjs", platform: "node", packages: "external", bundle: true } as const;
    buildSync({ ...cjs, entryPoints: [main], outfile: main.replace(".mjs", ".cjs"), logLevel: "error" });
  }
}

/** Path of a file that is written beside the scripts. */
export function written(name: string, text: string): string {
  const file = join(consumer(), name);
  writeFileSync(file, text);
  return file;
}
