import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
  for (const name of ["kernels.simd.wasm", "runs.simd.wasm"]) copyFileSync(join(dist, name), join(folder, name));

  /** The modules' files stay files, beside the worker. */
  const besideWorker: Plugin = {
    name: "wasm",
    setup: (build) =>
      build.onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path: `./${basename(path)}`, external: true })),
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
    expect(modulesOf(script)).toHaveLength({ oriel: 2, "oriel/js": 0 }[entry as string] ?? 1);
    // Node's modules change nothing of it.
    for (const report of await answersOf(script, { date, flags: ["nodejs_compat"] })) expectPassed(report, kernel);
  });

  test("a series has a kernel for sorted runs alone, and answers with it", async () => {
    const code = `import { memoryStore, Series } from "oriel/series";
export default {
  async fetch() {
    const series = new Series(memoryStore(), "latency");
    await series.recordMany(Array.from({ length: 20_000 }, (_, i) => i / 4));
    const { count, sum, p99, max } = await series.recordAndGet(-1, { span: "1m", percentiles: [99] }).then((stats) => ({ ...stats, p99: stats.percentiles[99] }));
    return Response.json([count, sum, p99, max]);
  },
};
`;
    const script = await deployed(written("worker-series.mjs", code), folder, { date });
    expect(readFileSync(script, "utf8").match(/\w+\.simd\.wasm/g)).toEqual(["runs.simd.wasm"]);
    expect(await answersOf(script, { date })).toEqual([[20_001, 49_997_499, 4949.75, 4999.75]]);
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

function modulesOf(script: string): string[] {
  return readdirSync(dirname(script)).filter((file) => file.endsWith(".wasm"));
}
