import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Miniflare } from "miniflare";
import { describe, expect, test } from "vitest";
import { bundled, temporaryFolder } from "./bundle.ts";
import { consumer, written } from "./consumer.ts";
import { type Entry, mainOf, WORKER } from "./mains.ts";
import { expectPassed } from "./report.ts";

/** The last date on which Workers compile no bytes at all, not even before the first request. */
const DATE = "2025-05-31";
const SLIM = { imported: 'import wasm from "oriel/kernels.simd.wasm";', wasm: "wasm" };
const ENTRIES: [Entry, string][] = [
  ["oriel", "wasm-simd"],
  ["oriel/kernel", "wasm-simd"],
  ["oriel/slim", "wasm-simd"],
  ["oriel/js", "js"],
];

async function answerOf(script: string, flags: string[] = []): Promise<unknown> {
  const worker = new Miniflare({
    scriptPath: script,
    modulesRoot: dirname(script),
    modules: true,
    modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
    compatibilityDate: DATE,
    compatibilityFlags: flags,
    cf: false,
  });
  try {
    const response = await worker.dispatchFetch("http://localhost/");
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return JSON.parse(text);
  } finally {
    await worker.dispose();
  }
}

describe("workerd, through miniflare", () => {
  const folder = temporaryFolder();
  const dist = join(consumer(), "node_modules", "oriel", "dist");
  copyFileSync(join(dist, "kernels.simd.wasm"), join(folder, "kernels.simd.wasm"));

  /** The module's file stays a file, beside the worker. */
  const besideWorker = {
    name: "wasm",
    setup: (build: import("esbuild").PluginBuild) =>
      build.onResolve({ filter: /\.wasm$/ }, () => ({ path: "./kernels.simd.wasm", external: true })),
  };

  test.each(ENTRIES)("%s", async (entry, kernel) => {
    const script = join(folder, `${entry.replace("/", "-")}.mjs`);
    const conditions = ["workerd", "worker", "browser"];
    writeFileSync(script, await bundled(mainOf(entry, WORKER, SLIM), { conditions, plugins: [besideWorker] }));
    expectPassed(await answerOf(script), kernel);
    expectPassed(await answerOf(script, ["nodejs_compat"]), kernel);
  });
});

describe("workerd, through wrangler deploy --dry-run", () => {
  const wrangler = join(createRequire(import.meta.url).resolve("wrangler"), "..", "..", "bin", "wrangler.js");
  const folder = temporaryFolder();
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { ...process.env, XDG_CONFIG_HOME: home, WRANGLER_SEND_METRICS: "false", CI: "true" };

  test.each(ENTRIES)("%s", async (entry, kernel) => {
    const name = entry.replace("/", "-");
    const main = written(`worker-${name}.mjs`, mainOf(entry, WORKER, SLIM));
    const out = join(folder, name);
    const args = ["deploy", main, "--name", name, "--compatibility-date", DATE, "--dry-run", "--outdir", out];
    await promisify(execFile)(process.execPath, [wrangler, ...args], { cwd: consumer(), env, timeout: 25_000 });
    const files = readdirSync(out);
    expect(files.filter((file) => file.endsWith(".wasm"))).toHaveLength(entry === "oriel/js" ? 0 : 1);
    expectPassed(await answerOf(join(out, `worker-${name}.js`)), kernel);
  });
});
