import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { atEnd } from "../harness/ends.ts";
import { watch } from "../harness/watchdog.ts";
import { root } from "../house/sources.ts";
import { consumer } from "../runtimes/consumer.ts";
import { programs } from "../runtimes/programs.ts";

/** Where the tests have the packages of the examples. The first folder that has a package wins. */
const PACKAGES = ["test/http", "test/examples", "test/runtimes", "."];

/** The first version of Node that runs TypeScript without a flag, in the packages of the tests. */
export const node = programs["Node 24"];

const copied = new Set<string>();

/**
 * The folder of an example as its user has it: the packed package and what package.json names are installed above it.
 * `beside` is a folder of copies that no other test file uses.
 */
export function placed(name: string, beside = "examples"): string {
  const user = consumer();
  const folder = join(user, beside, name);
  // A second copy would remove each file for an instant, in which a process of the first one can look for it.
  if (copied.has(folder)) return folder;
  copied.add(folder);
  cpSync(join(root, "examples", name), folder, {
    recursive: true,
    filter: (path) => !/[\\/](node_modules|\.next)$|\.pid$/.test(path),
  });
  const { dependencies, devDependencies } = packageOf(folder);
  for (const wanted of Object.keys({ ...dependencies, ...devDependencies }))
    link(wanted, join(user, "node_modules", wanted));
  return folder;
}

export interface Package {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export function packageOf(folder: string): Package {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function link(name: string, path: string): void {
  const found = PACKAGES.map((folder) => join(root, folder, "node_modules", name)).find(existsSync);
  if (!found || existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  try {
    symlinkSync(found, path, "junction");
  } catch (error) {
    if (!existsSync(path)) throw error; // else another test file was faster
  }
}

export interface Started {
  readonly child: ChildProcess;
  /** Its output up to now. */
  printed(): string;
  /** Exit code, when all of its output is here. */
  readonly ended: Promise<number | null>;
}

/** Runs a script of an example's package.json, which begins with `node`, in that example's folder, until the test ends. */
export function run(folder: string, script: string, env: Record<string, string>): Started {
  const [program, ...args] = packageOf(folder).scripts[script]!.split(" ");
  if (program !== "node") throw new Error(`${folder}: the script ${script} begins with ${program}`);
  const child = spawn(node!, args, { cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  watch(child);
  atEnd(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      text += chunk;
    });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, printed: () => text, ended };
}
