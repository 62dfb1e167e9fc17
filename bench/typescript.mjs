// Lets Node run these TypeScript files as the package is built. tsx would wrap every function that is made in a call that
// keeps its name, which costs oriel's small steps a third, and nothing to rivals, which come built.
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { transform } from "esbuild";

// Node asks for modules in a thread of their own, where this file is loaded again.
if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context);
  const sourcefile = fileURLToPath(url);
  const options = { loader: "ts", target: "es2022", sourcemap: "inline", sourcefile };
  const { code } = await transform(await readFile(sourcefile, "utf8"), options);
  return { format: "module", source: code, shortCircuit: true };
}
