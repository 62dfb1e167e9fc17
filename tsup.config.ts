import type { Plugin } from "esbuild";
import { defineConfig, type Options } from "tsup";

/**
 * Replaces imports by a name that `imports` of package.json resolves for each runtime: of the store, of the kernels and of the
 * upkeep of series, in the entries of structures. One file therefore serves all runtimes.
 */
const byRuntime: Plugin = {
  name: "by runtime",
  setup({ onResolve }) {
    const leave = (filter: RegExp, importer: RegExp, path: string) =>
      onResolve({ filter }, (from) => (importer.test(from.importer) ? { path, external: true } : undefined));
    leave(/\/store\/redis\/redis\.ts$/, /\/entries\/structures\/[a-z]+\.ts$/, "#redis-store");
    leave(/\/kernel\/built-in\.ts$/, /\/runtimes\/(series|metrics|fleet|dashboard)\.ts$/, "#kernels");
    leave(/\/upkeep\.ts$/, /\/runtimes\/(series|metrics|fleet|dashboard)\.ts$/, "#upkeep");
  },
};

const shared: Options = {
  target: "node20",
  sourcemap: true,
  esbuildPlugins: [byRuntime],
  external: ["ioredis", "redis-semaphore", "@resvg/resvg-wasm", /\.wasm(\?module)?$/],
  clean: false, // the build begins by emptying dist
};

const files = (folder: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, `${folder}/${name}.ts`]));
const entries = files("src/entries", "index", "kernel", "js", "slim", "http", "sql");
// Those that compute bring kernels.
const structures = {
  ...files("src/entries/structures", "limiter", "lock", "counters", "queue", "breaker", "semaphore"),
  ...files("src/entries/runtimes", "series", "metrics", "fleet", "dashboard"),
};
const parts = {
  ...files("src/store/redis", "redis", "redis-edge"),
  ...files("src/engine/kernel", "built-in"),
  ...files("src/engine/series/session", "upkeep"),
};
const browser = files("src/entries/runtimes", "browser", "js", "slim");
const edge = files(
  "src/entries/runtimes",
  "workerd",
  "edge-light",
  "deno",
  "kernel-workerd",
  "kernel-edge-light",
  "kernels-workerd",
  "kernels-edge-light",
  "series-workerd",
  "no-upkeep",
);
// In files of their own, because gzip looks 32 kB back: 28 kB of Lua in the midst of the code would part it in two.
const lua = { ...files("src/generated/scripts", "journal"), answers: "src/generated/scripts/series.ts" };

export default defineConfig([
  {
    // One configuration for all entries, so that they share one copy of the kernel choice.
    ...shared,
    entry: { ...entries, ...structures, ...parts, ...browser, ...edge, ...lua },
    format: ["esm"],
    splitting: true,
    // Bundles have the values of constants in the place of their names: a minifier looks into one file only.
    minifySyntax: true,
  },
  {
    ...shared,
    entry: { ...entries, ...structures, ...parts, ...browser },
    format: ["cjs"],
    splitting: true,
    // Jest's jsdom, which lacks them, loads CommonJS. Bundles for browsers and the edge do not pay for it.
    inject: ["src/entries/runtimes/text-coding.ts"],
  },
  {
    ...shared,
    // A runtime's recipe has the types of its entry.
    entry: { ...entries, ...files("src/entries/structures", ...Object.keys(structures)) },
    format: ["esm", "cjs"],
    sourcemap: false,
    dts: { only: true },
  },
]);
