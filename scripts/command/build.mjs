// Bundles the command `oriel` into dist/cli.js for `npm start`, which has installed little more than esbuild. The package's command
// shares files with the library (scripts/package/build.mjs).
import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const outfile = join(root, "dist", "cli.js");

await build({
  absWorkingDir: root,
  entryPoints: ["src/command/cli.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "error",
  external: ["ioredis", "redis", "redis-semaphore", "@resvg/resvg-wasm", "*.wasm", "*.wasm?module"],
  // Some of them are CommonJS and require Node's own modules, which an ES module can only do through this.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
});
chmodSync(outfile, 0o755);
