import { describe, test } from "vitest";
import { consumer } from "../consumer.ts";
import { programs } from "../programs.ts";
import { expectPassed, reportOf } from "../report.ts";
import { inRuntime } from "./in-runtime.ts";

const folder = consumer();

for (const name of Object.keys(programs).filter((each) => each.startsWith("Node")))
  inRuntime(name, (node) => {
    describe.each(["mjs", "cjs"])("%s", (kind) => {
      test.each([
        ["oriel", "same-script-main", "wasm-simd"],
        ["oriel/kernel", "kernel-script-main", "wasm-simd"],
        ["oriel/js", "same-script-js-main", "js"],
      ])("%s", async (_, main, kernel) => expectPassed(await reportOf(node, [`${main}.${kind}`], folder), kernel));
    });

    test("oriel/slim, given the file's bytes", async () =>
      expectPassed(await reportOf(node, ["same-script-slim-main.mjs"], folder), "wasm-simd"));
  });
