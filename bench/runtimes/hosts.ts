import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { programs } from "../../test/runtimes/programs.ts";
import { PAGE, PROGRAM, WORKER } from "./mains.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** The folder in which a bundle finds its external packages. */
export const workFolder = join(root, "node_modules", ".oriel", "bench-runtimes");

export interface Done {
  ms: number;
  hash: number;
  kernel: string;
}

/** A running runtime, which answers one request at a time. */
export interface Host {
  readonly name: string;
  run(work: string, size: number, runs: number): Promise<Done>;
  close(): Promise<void>;
}

export const { chromium } = await fromTestPackage("playwright-core");
export const { Miniflare } = await fromTestPackage("miniflare");

/** These packages belong to the tests, not to the bench. */
// biome-ignore lint/suspicious/noExplicitAny: their types exist only where they are installed
async function fromTestPackage(name: string): Promise<any> {
  const { resolve } = createRequire(join(root, "test", "runtimes", "package.json"));
  const module = await import(resolve(name));
  return { ...module.default, ...module };
}

/** Resolves the package by its export conditions, as a user does. The bench has its own package.json. */
const itself: Plugin = {
  name: "oriel",
  setup: ({ onResolve, resolve }) =>
    onResolve({ filter: /^oriel(\/|$)/ }, ({ path, kind, pluginData }) =>
      pluginData === itself ? undefined : resolve(path, { kind, resolveDir: root, pluginData: itself }),
    ),
};

export async function bundled(name: string, main: string, conditions: string[], platform: "node" | "neutral") {
  const outfile = join(workFolder, `${name.replaceAll(" ", "-")}.mjs`);
  await build({
    stdin: { contents: main, resolveDir: join(root, "bench", "runtimes") },
    bundle: true,
    format: "esm",
    platform,
    conditions,
    external: ["ioredis", "*.wasm"],
    plugins: [itself],
    outfile,
    logLevel: "error",
  });
  return outfile;
}

/** The command of each program, and the export conditions that it uses. */
const PROGRAMS: Record<string, { conditions: string[]; args: string[] }> = {
  Node: { conditions: ["node"], args: [] },
  Deno: { conditions: ["deno", "node"], args: ["run", "--no-prompt"] },
  Bun: { conditions: ["bun", "node"], args: [] },
};

export const programOf = (name: string) => ({ path: programs[name], ...PROGRAMS[name.split(" ")[0]!]! });

class Program implements Host {
  readonly name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string, path: string, args: string[]) {
    this.name = name;
    this.#child = spawn(path, args, { cwd: workFolder, env: { ...process.env, NO_COLOR: "1" } });
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async run(...request: [work: string, size: number, runs: number]): Promise<Done> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${this.name} ended before it answered`);
    return JSON.parse(value);
  }

  async close(): Promise<void> {
    this.#child.kill();
  }
}

async function openProgram(name: string): Promise<Host | undefined> {
  const { path, conditions, args } = programOf(name);
  if (!path) return undefined;
  return new Program(name, path, [...args, await bundled(name, PROGRAM, conditions, "node")]);
}

/** A worker with these export conditions. It starts with its first request. */
export async function workerOf(name: string, main: string) {
  const script = await bundled(name, main, ["workerd", "worker", "browser"], "neutral");
  const wasm = join(workFolder, "kernels.simd.wasm");
  copyFileSync(join(root, "dist", "kernels.simd.wasm"), wasm);
  return new Miniflare({
    modules: [
      { type: "ESModule", path: script },
      { type: "CompiledWasm", path: wasm },
    ],
    modulesRoot: workFolder,
    compatibilityDate: "2025-05-31",
    cf: false,
  });
}

async function openWorkerd(): Promise<Host> {
  const worker = await workerOf("workerd", WORKER);
  const ask = async (...request: unknown[]) => {
    const begunMs = performance.now();
    const response = await worker.dispatchFetch("http://localhost/", { method: "POST", body: JSON.stringify(request) });
    const done = JSON.parse(await response.text());
    return { ...done, ms: performance.now() - begunMs };
  };
  return {
    name: "workerd",
    /** Minus the time of an empty request. */
    async run(name, size, runs) {
      const { ms: emptyMs } = await ask(name, size, 0);
      const done = await ask(name, size, runs);
      return { ...done, ms: done.ms - emptyMs };
    },
    close: () => worker.dispose(),
  };
}

async function openChromium(): Promise<Host | undefined> {
  const executablePath = programs.Chromium;
  if (!executablePath) return undefined;
  const script = await bundled("chromium", PAGE, ["browser"], "neutral");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.addScriptTag({ path: script, type: "module" });
  return {
    name: "Chromium",
    run: (...request) => page.evaluate(`timed(...${JSON.stringify(request)})`),
    close: () => browser.close(),
  };
}

/** Every available runtime, Node first. */
export async function openHosts(): Promise<Host[]> {
  rmSync(workFolder, { recursive: true, force: true });
  mkdirSync(workFolder, { recursive: true });
  const node = `Node ${process.versions.node.split(".")[0]}`;
  const names = [...new Set([node, "Node 24", "Node 26", "Deno", "Bun"])];
  const hosts = [...names.map(openProgram), openWorkerd(), openChromium()];
  return (await Promise.all(hosts)).filter((host) => host !== undefined);
}
