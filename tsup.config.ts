import { defineConfig, type Options } from "tsup";

const shared: Options = { target: "node20", external: ["ioredis"], clean: false }; // the build begins by emptying dist

export default defineConfig([
  {
    // One configuration for all entries, so that ESM entries share one copy of the kernel choice.
    ...shared,
    entry: {
      index: "src/index.ts",
      kernel: "src/kernel.ts",
      js: "src/js.ts",
      http: "src/http.ts",
      sql: "src/sql.ts",
    },
    format: ["esm", "cjs"],
    splitting: true,
    dts: true,
  },
  {
    // The command line's libraries are bundled: whoever installs oriel installs ioredis and nothing else.
    ...shared,
    entry: { cli: "src/cli.ts" },
    format: ["esm"],
    noExternal: ["commander", "cli-table3", "picocolors", "cli-progress", "csv-parse", /^d3-/],
    // Some of them are CommonJS and require Node's own modules, which an ES module can only do through this.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  },
]);
