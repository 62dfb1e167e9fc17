import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";
import { describe, expect, test } from "vitest";
import { bundled, temporaryFolder } from "../bundles/bundle.ts";
import { type Entry, mainOf, WORKER } from "../bundles/mains.ts";
import { consumer, written } from "../consumer.ts";
import { expectPassed } from "../report.ts";
import { answersOf, deployed } from "../worker.ts";

/** The last date on which Workers compile no bytes at all, not even before the first request. */
const date = "2025-05-31";
const SLIM = { imported: 'import wasm from "oriel/kernels.simd.wasm";', wasm: "wasm" };
const ENTRIES: [Entry, string][] = [
  ["oriel", "wasm-simd"],
  ["oriel/kernel", "wasm-simd"],
  ["oriel/slim", "wasm-simd"],
  ["oriel/js", "js"],
];

describe("workerd, through miniflare", () => {
  const folder = temporaryFolder();
  const dist = join(consumer(), "node_modules", "oriel", "dist");
  copyFileSync(join(dist, "kernels.simd.wasm"), join(folder, "kernels.simd.wasm"));

  /** The module's file stays a file, beside the worker. */
  const besideWorker: Plugin = {
    name: "wasm",
    setup: (build) => build.onResolve({ filter: /\.wasm$/ }, () => ({ path: "./kernels.simd.wasm", external: true })),
  };

  test.each(ENTRIES)("%s", async (entry, kernel) => {
    const script = join(folder, `${entry.replace("/", "-")}.mjs`);
    const conditions = ["workerd", "worker", "browser"];
    writeFileSync(script, await bundled(mainOf(entry, WORKER, SLIM), { conditions, plugins: [besideWorker] }));
    for (const report of await answersOf(script, { date })) expectPassed(report, kernel);
  });
});

describe("workerd, through wrangler deploy --dry-run", () => {
  const folder = temporaryFolder();

  test.each(ENTRIES)("%s", async (entry, kernel) => {
    const main = written(`worker-${entry.replace("/", "-")}.mjs`, mainOf(entry, WORKER, SLIM));
    const script = await deployed(main, folder, { date });
    const modules = readdirSync(dirname(script)).filter((file) => file.endsWith(".wasm"));
    expect(modules).toHaveLength(entry === "oriel/js" ? 0 : 1);
    // Node's modules change nothing of it.
    for (const report of await answersOf(script, { date, flags: ["nodejs_compat"] })) expectPassed(report, kernel);
  });

  test("a limiter includes no kernels", async () => {
    const code = `import { httpStore, Limiter, slidingWindow } from "oriel";
const store = httpStore({ url: "https://example.com", token: "token" });
const limiter = new Limiter(store, [slidingWindow({ limit: 1, span: 1000 })], { name: "worker" });
export default { fetch: async () => Response.json([typeof limiter.take]) };
`;
    const script = await deployed(written("worker-limiter.mjs", code), folder, { date });
    expect(readFileSync(script, "utf8")).not.toMatch(/\.wasm\b|wasm-simd|WebAssembly/);
    expect(await answersOf(script, { date })).toEqual([["function"]]);
  });
});
