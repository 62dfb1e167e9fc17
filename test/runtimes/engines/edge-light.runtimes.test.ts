import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EdgeVM } from "@edge-runtime/vm";
import type { Plugin } from "esbuild";
import { expect, test } from "vitest";
import { compile } from "../../../src/engine/kernel/wasm/wasm-exports.ts";
import { bundled } from "../bundles/bundle.ts";
import { type Entry, KEEP, mainOf } from "../bundles/mains.ts";
import { consumer } from "../consumer.ts";
import { expectPassed } from "../report.ts";

/** As in Vercel's build, the compiled module is passed in. */
const handedIn: Plugin = {
  name: "wasm",
  setup(build) {
    build.onResolve({ filter: /\.wasm\?module$/ }, ({ path }) => ({ path, namespace: "wasm" }));
    build.onLoad({ filter: /.*/, namespace: "wasm" }, () => ({ contents: "export default globalThis.kernels;" }));
  },
};
const SLIM = { imported: 'import wasm from "oriel/kernels.simd.wasm?module";', wasm: "wasm" };

/** The report of the main in a machine that compiles neither text nor bytes, like Vercel's. */
async function reportOf(entry: Entry, conditions: string[]): Promise<unknown> {
  const code = await bundled(mainOf(entry, KEEP, SLIM), { format: "iife", conditions, plugins: [handedIn] });
  const vm = new EdgeVM({ codeGeneration: { strings: false, wasm: false } });
  const file = join(consumer(), "node_modules", "oriel", "dist", "kernels.simd.wasm");
  Object.assign(vm.context, { kernels: await compile(readFileSync(file)) });
  vm.evaluate(code);
  return JSON.parse(JSON.stringify(await vm.evaluate("report")));
}

test.each<[Entry, string]>([
  ["oriel", "wasm-simd"],
  ["oriel/kernel", "wasm-simd"],
  ["oriel/slim", "wasm-simd"],
  ["oriel/js", "js"],
])("%s", async (entry, kernel) => expectPassed(await reportOf(entry, ["edge-light"]), kernel));

test("Node's functions that next dev and next start put there, and that throw, are not called", async () => {
  const main = `import { Limiter, memoryStore, slidingWindow } from "oriel";
const store = memoryStore();
const limiter = new Limiter(store, [slidingWindow({ limit: 1, span: "1m" })], { name: "edge" });
globalThis.report = Promise.all([limiter.take("a"), limiter.take("a")]).then((all) => all.map(({ allowed }) => allowed));`;
  const vm = new EdgeVM();
  vm.evaluate(`const refuse = () => { throw new Error("not supported in the Edge Runtime"); };
globalThis.setImmediate = refuse;
globalThis.process = { env: {}, nextTick: refuse, emitWarning: refuse };`);
  vm.evaluate(await bundled(main, { format: "iife", conditions: ["edge-light"], plugins: [handedIn] }));
  expect(JSON.parse(JSON.stringify(await vm.evaluate("report")))).toEqual([true, false]);
});

test("without the condition edge-light the bytes are refused, and the JavaScript kernel is used", async () => {
  expectPassed(await reportOf("oriel", []), "js");
  const vm = new EdgeVM({ codeGeneration: { strings: false, wasm: false } });
  expect(() => vm.evaluate("new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))")).toThrow(
    "Wasm code generation disallowed by embedder",
  );
});
