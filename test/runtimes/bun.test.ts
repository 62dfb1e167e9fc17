import { test } from "vitest";
import { consumer } from "./consumer.ts";
import { inRuntime } from "./programs.ts";
import { expectPassed, reportOf } from "./report.ts";

const folder = consumer();

inRuntime("Bun", (bun) => {
  test.each([
    ["oriel", "same-script-main.mjs", "wasm-simd"],
    ["oriel, required", "same-script-main.cjs", "wasm-simd"],
    ["oriel/kernel", "kernel-script-main.mjs", "wasm-simd"],
    ["oriel/js", "same-script-js-main.mjs", "js"],
    ["oriel/slim", "same-script-slim-main.mjs", "wasm-simd"],
  ])("%s", async (_, main, kernel) => expectPassed(await reportOf(bun, ["run", main], folder), kernel));
});
