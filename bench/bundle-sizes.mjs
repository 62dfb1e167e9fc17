// Prints what each bundle for a Worker weighs, minified and by gzip, and which sources weigh most in it.
// usage: node bench/bundle-sizes.mjs [name] [how many sources]   From the sources; no build is needed but `npm run generate`.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cases = {
  httpStore: "httpStore",
  memoryStore: "memoryStore",
  Limiter: "Limiter, slidingWindow",
  "Limiter+http": "Limiter, slidingWindow, httpStore",
  Lock: "Lock",
  "Lock+http": "Lock, httpStore",
  Breaker: "Breaker",
  "Breaker+http": "Breaker, httpStore",
  Series: "Series",
  "Series+http": "Series, httpStore",
  Counters: "Counters",
  DelayQueue: "DelayQueue",
};
const [only, count = "0"] = process.argv.slice(2);

for (const [name, names] of Object.entries(cases)) {
  if (only && only !== name && only !== "all") continue;
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export { ${names} } from "./src/runtimes/workerd.ts"`, resolveDir: root },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    external: ["*.wasm"],
    outfile: "out.js",
  });
  const text = outputFiles[0].text;
  const wasm = /\.wasm/.test(text)
    ? gzipSync(readFileSync(join(root, "dist/kernels.simd.wasm")), { level: 9 }).length
    : 0;
  console.log(
    `${name}: ${text.length} bytes, gzip ${gzipSync(text, { level: 9 }).length}${wasm ? ` + ${wasm} wasm` : ""}`,
  );
  const inputs = Object.entries(metafile.outputs["out.js"].inputs).map(([file, { bytesInOutput }]) => [
    file,
    bytesInOutput,
  ]);
  inputs.sort((a, b) => b[1] - a[1]);
  for (const [file, bytes] of inputs.slice(0, Number(count))) console.log(`  ${String(bytes).padStart(6)} ${file}`);
}
