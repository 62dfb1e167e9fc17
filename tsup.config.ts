import { defineConfig } from "tsup";

/** One configuration for all entries, so that ESM entries share one copy of the kernel choice. */
export default defineConfig({
  entry: { index: "src/index.ts", kernel: "src/kernel.ts", js: "src/js.ts", cli: "src/cli.ts" },
  format: ["esm", "cjs"],
  target: "node20",
  splitting: true,
  dts: { entry: { index: "src/index.ts", kernel: "src/kernel.ts", js: "src/js.ts" } },
  external: ["ioredis"],
  clean: false, // the build begins by emptying dist, before the kernels are put there
  // The command line's libraries are bundled: whoever installs oriel installs ioredis and nothing else.
  noExternal: ["commander", "cli-table3", "picocolors", "cli-progress", "csv-parse", /^d3-/],
});
