import { join } from "node:path";
import { test } from "vitest";
import { consumer } from "../consumer.ts";
import { expectPassed, reportOf } from "../report.ts";
import { inRuntime } from "./in-runtime.ts";

const folder = consumer();
const ENV = { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };

inRuntime("Deno", (deno) => {
  const run = (main: string, ...permissions: string[]) =>
    reportOf(deno, ["run", "--no-prompt", ...permissions, `${main}.mjs`], folder, ENV);

  test.each([
    ["oriel", "same-script-main", "wasm-simd"],
    ["oriel/kernel", "kernel-script-main", "wasm-simd"],
    ["oriel/js", "same-script-js-main", "js"],
  ])("%s without a permission", async (_, main, kernel) => expectPassed(await run(main), kernel));

  test("oriel/slim, given the file's bytes", async () => {
    const file = join(folder, "node_modules", "oriel", "dist", "kernels.simd.wasm");
    expectPassed(await run("same-script-slim-main", `--allow-read=${file}`), "wasm-simd");
  });
});
