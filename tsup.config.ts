import { defineConfig, type Options } from "tsup";
import { thirdPartyNotices } from "./scripts/third-party-notices.mjs";

const shared: Options = {
  target: "node20",
  sourcemap: true,
  external: ["ioredis", /\.wasm(\?module)?$/],
  clean: false, // the build begins by emptying dist
};

const files = (folder: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, `${folder}/${name}.ts`]));
const entries = files("src/entries", "index", "kernel", "js", "slim", "http", "sql");
const browser = files("src/runtimes", "browser", "js");
const edge = files("src/runtimes", "workerd", "edge-light", "deno", "kernel-workerd", "kernel-edge-light");

export default defineConfig([
  {
    // One configuration for all entries, so that they share one copy of the kernel choice.
    ...shared,
    entry: { ...entries, ...browser, ...edge },
    format: ["esm"],
    splitting: true,
  },
  {
    ...shared,
    entry: { ...entries, ...browser },
    format: ["cjs"],
    splitting: true,
  },
  {
    ...shared,
    entry: entries, // a runtime's recipe has the types of its entry
    format: ["esm", "cjs"],
    sourcemap: false,
    dts: { only: true },
  },
  {
    // The command line's libraries are bundled, so that installing oriel installs only ioredis.
    ...shared,
    entry: files("src/entries", "cli"),
    format: ["esm"],
    noExternal: ["commander", "cli-table3", "picocolors", "cli-progress", "csv-parse", /^d3-/],
    esbuildPlugins: [thirdPartyNotices("dist/THIRD-PARTY-NOTICES.txt")],
    // Some of them are CommonJS and require Node's own modules, which an ES module can only do through this.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
  },
]);
