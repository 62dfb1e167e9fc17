import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findPython, findRedisCli } from "../../../scripts/find-programs.mjs";
import { root } from "../../house/sources.ts";
import { programs as runtimes } from "../../runtimes/programs.ts";

const SEARCHED = (process.env.PATH ?? "").split(delimiter);
/** Programs that blocks, or the functions of prelude.sh, may run. */
const NEEDED = ["node", "npm", "env", "cat", "grep", "mkdir", "basename", "sleep", "tail", "curl"];

export function onPath(name: string): string | undefined {
  return SEARCHED.map((folder) => join(folder, name)).find(existsSync);
}

/** Of a program that is named by its path or found on PATH. */
function pathOf(program: string | undefined): string | undefined {
  return program?.includes("/") ? program : program && onPath(program);
}

/** Writes a folder with the programs that blocks may run. Returns it, and the names of those that this machine lacks. */
export function programFolder(folder: string): { bin: string; missing: string[] } {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const all: Record<string, string | undefined> = {
    ...Object.fromEntries([...NEEDED, "jq"].map((name) => [name, onPath(name)])),
    "redis-cli": pathOf(findRedisCli()),
    python3: pathOf(findPython("numpy")),
  };
  for (const [name, path] of Object.entries(all)) {
    // Some programs are scripts that find their parts by the whole PATH.
    const script = path ? `PATH="${bin}:${process.env.PATH}" exec "${path}" "$@"` : "cat > /dev/null";
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { bin, missing: Object.keys(all).filter((name) => !all[name]) };
}

function json(path: string) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}

/** Names that the functions of prelude.sh compare with. */
export function knownNames(): Record<string, string> {
  const { scripts, repository } = json("package.json");
  const folders = ["test", "examples"].flatMap((room) =>
    readdirSync(join(root, room)).map((name) => `${room}/${name}`),
  );
  const packages = [".", "bench", "docs", ...folders]
    .map((folder) => `${folder}/package.json`)
    .filter((path) => existsSync(join(root, path)))
    .flatMap((path) => Object.keys({ ...json(path).dependencies, ...json(path).devDependencies }));
  const bench = readFileSync(join(root, "bench/main.ts"), "utf8");
  return {
    BENCHES: [...bench.matchAll(/^ {2}(\w+): \(/gm)].map(([, name]) => name).join(" "),
    BENCH_OPTIONS: [...bench.matchAll(/^ {6}(\w+): \{ type/gm)].map(([, name]) => `--${name}`).join(" "),
    SCRIPTS: Object.keys(scripts).join(" "),
    PACKAGES: ["oriel", "npm:oriel", ...new Set(packages)].join(" "),
    REPOSITORY: repository.url.replace(/^git\+|\.git$/g, ""),
    DENO: runtimes.Deno ?? "",
    BUN: runtimes.Bun ?? "",
  };
}
