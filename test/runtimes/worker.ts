import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { Miniflare } from "miniflare";
import { expect } from "vitest";

export interface WorkerOptions {
  /** Compatibility date. */
  date: string;
  flags?: string[];
}

const wrangler = join(createRequire(import.meta.url).resolve("wrangler"), "..", "..", "bin", "wrangler.js");

/** Path of the script that `wrangler deploy` would upload, with its modules beside it, in a folder of its name. */
export async function deployed(main: string, folder: string, { date, flags = [] }: WorkerOptions): Promise<string> {
  const name = basename(main, extname(main));
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const env = { ...process.env, XDG_CONFIG_HOME: home, WRANGLER_SEND_METRICS: "false", CI: "true" };
  const flagged = flags.flatMap((flag) => ["--compatibility-flags", flag]);
  const out = join(folder, name);
  const args = ["deploy", main, "--name", name, "--compatibility-date", date, ...flagged, "--dry-run", "--outdir", out];
  await promisify(execFile)(process.execPath, [wrangler, ...args], { cwd: dirname(main), env, timeout: 240_000 });
  return join(out, `${name}.js`);
}

/** The answers of a worker, with the modules beside it, in workerd to this number of requests, one after the other. */
export async function answersOf(script: string, { date, flags = [] }: WorkerOptions, query = "", requests = 1) {
  const folder = dirname(script);
  const wasm = readdirSync(folder).flatMap((file) => (file.endsWith(".wasm") ? [join(folder, file)] : []));
  const worker = new Miniflare({
    // Named one by one: miniflare's own search stops at packages that a client imports only where they are.
    modules: [{ type: "ESModule", path: script }, ...wasm.map((path) => ({ type: "CompiledWasm", path }) as const)],
    modulesRoot: folder,
    compatibilityDate: date,
    compatibilityFlags: flags,
    cf: false,
  });
  const answers: unknown[] = [];
  try {
    for (let request = 0; request < requests; request++) {
      const response = await worker.dispatchFetch(`http://localhost/?${query}`);
      const text = await response.text();
      expect(response.status, text).toBe(200);
      answers.push(JSON.parse(text));
    }
  } finally {
    await worker.dispose();
  }
  return answers;
}
