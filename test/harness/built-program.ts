import { mkdirSync, renameSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, "node_modules", ".oriel", "programs");
// It reads its own .wasm file from beside itself.
const sqlite = join(root, "test/drain/node_modules/node-sqlite3-wasm/dist/node-sqlite3-wasm.js");
const built = new Map<string, string>();

/**
 * The path of a TypeScript program as one file that Node runs without a loader: a loader costs each process 1 s of CPU.
 * Each process that asks builds it once. It replaces a file that another process has built, which has the same content.
 */
export function builtProgram(script: URL): string {
  const known = built.get(script.href);
  if (known) return known;
  const source = fileURLToPath(script);
  const name = relative(root, source).replaceAll(/[/\\]/g, "-").replace(/\.ts$/, ".mjs");
  const file = join(folder, name);
  const fresh = join(folder, `${process.pid}-${name}`);
  mkdirSync(folder, { recursive: true });
  buildSync({
    entryPoints: [source],
    outfile: fresh,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    external: ["pg-native", sqlite],
    alias: { "node-sqlite3-wasm": sqlite },
    define: { "import.meta.url": JSON.stringify(script.href) },
    // Bundled CommonJS packages require modules of Node.
    banner: {
      js: `import { createRequire as requireOf } from "node:module"; const require = requireOf(${JSON.stringify(script.href)});`,
    },
  });
  renameSync(fresh, file);
  built.set(script.href, file);
  return file;
}
