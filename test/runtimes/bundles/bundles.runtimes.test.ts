import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BuildOptions } from "esbuild";
import { expect, test } from "vitest";
import { expectPassed, reportOf } from "../report.ts";
import { bundled, temporaryFolder, viteBundled } from "./bundle.ts";
import { mainOf, PRINT } from "./mains.ts";

const folder = temporaryFolder();
const main = mainOf("oriel", PRINT);
const HAS_IOREDIS = /MaxRetriesPerRequestError/;

async function passes(file: string, code: string, kernel: string) {
  writeFileSync(join(folder, file), code);
  expectPassed(await reportOf(process.execPath, [file], folder), kernel);
}

test("esbuild, for browsers: the bundle has no client of Redis", async () => {
  const code = await bundled(main, {});
  expect(code).not.toMatch(HAS_IOREDIS);
  await passes("browser.mjs", code, "wasm-simd");
});

test("esbuild, for Node, minified, as an ES module", async () => {
  const js = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  const options: BuildOptions = { platform: "node", minify: true, banner: { js } };
  expect(await bundled('export { redisStore } from "oriel";', options)).toMatch(HAS_IOREDIS);
  const code = await bundled(main, options);
  expect(code).not.toMatch(HAS_IOREDIS);
  await passes("node.mjs", code, "wasm-simd");
});

test("esbuild, for Node, minified, as CommonJS", async () =>
  passes("node.cjs", await bundled(main, { platform: "node", format: "cjs", minify: true }), "wasm-simd"));

test("esbuild, oriel/js: the bundle has no WebAssembly", async () => {
  const code = await bundled(mainOf("oriel/js", PRINT), { minify: true });
  expect(code).not.toMatch(/AGFzbQ/);
  await passes("js.mjs", code, "js");
});

test("Vite: a limiter includes no kernels, a series does", async () => {
  const code = (name: string) => viteBundled(`vite-${name}.mjs`, `export { ${name}, httpStore } from "oriel";`);
  expect(await code("Limiter")).not.toMatch(/AGFzbQ|wasm-simd|WebAssembly/);
  expect(await code("Series")).toMatch(/AGFzbQ/);
});

test("Vite: the code that provides the kernels is kept", async () => {
  const code = await viteBundled("vite-main.mjs", main);
  expect(code).not.toMatch(HAS_IOREDIS);
  await passes("vite.mjs", code, "wasm-simd");
});

test("Vite, oriel/kernel", async () =>
  passes("vite-kernel.mjs", await viteBundled("vite-kernel.mjs", mainOf("oriel/kernel", PRINT)), "wasm-simd"));
