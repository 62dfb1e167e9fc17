// Lists the modules of a bundle for Workers, without its WebAssembly, with the bytes by which gzip would be smaller without each:
//   npm run sizes -- "Limiter, slidingWindow, httpStore" [number of modules]
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [names = "httpStore", most = "40"] = process.argv.slice(2);
const { outputFiles } = await build({
  stdin: { contents: `export { ${names} } from "./src/entries/runtimes/workerd.ts"`, resolveDir: root },
  absWorkingDir: root,
  bundle: true,
  minifyIdentifiers: true,
  minifySyntax: true,
  write: false,
  format: "esm",
  platform: "neutral",
  external: ["*.wasm", "ioredis"],
});

// Before each module stands a comment with its path. The export at the end names locals of all modules.
const texts = outputFiles[0].text.replace(/^export \{[^}]*\};\s*$/m, "").split(/^\/\/ (src\/\S+)$/m);
const modules = [];
for (let i = 1; i < texts.length; i += 2) {
  const { code } = await transform(texts[i + 1], { minifyWhitespace: true, format: "esm" });
  modules.push({ path: texts[i], code });
}
const gzipBytes = (some) => gzipSync(some.map(({ code }) => code).join(""), { level: 9 }).length;
const totalBytes = gzipBytes(modules);
const rows = modules.map((each) => ({
  gzip: totalBytes - gzipBytes(modules.filter((other) => other !== each)),
  minified: each.code.length,
  module: each.path,
}));
console.info(`${names}: ${totalBytes} bytes by gzip, ${modules.length} modules`);
console.table(rows.sort((a, b) => b.gzip - a.gzip).slice(0, Number(most)));
