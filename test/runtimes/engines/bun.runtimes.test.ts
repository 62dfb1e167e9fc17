import { expect, test } from "vitest";
import { consumer, written } from "../consumer.ts";
import { expectPassed, reportOf } from "../report.ts";
import { inRuntime } from "./in-runtime.ts";

const folder = consumer();

inRuntime("Bun", (bun) => {
  test.each([
    ["oriel", "same-script-main.mjs", "wasm-simd"],
    ["oriel, required", "same-script-main.cjs", "wasm-simd"],
    ["oriel/kernel", "kernel-script-main.mjs", "wasm-simd"],
    ["oriel/js", "same-script-js-main.mjs", "js"],
    ["oriel/slim", "same-script-slim-main.mjs", "wasm-simd"],
  ])("%s", async (_, main, kernel) => expectPassed(await reportOf(bun, ["run", main], folder), kernel));

  test("Bun's own client of Redis, which returns a script's bytes as text, is refused", async () => {
    const main = `import { RedisClient } from "bun";
import { redisStore } from "oriel";
try {
  redisStore(new RedisClient("redis://127.0.0.1:1"));
} catch ({ code, message }) {
  console.log(JSON.stringify({ code, message }));
}`;
    expect(await reportOf(bun, ["run", written("bun-client.mjs", main)], folder)).toEqual({
      code: "ARGUMENT",
      message: expect.stringContaining("client is a RedisClient; it must be"),
    });
  });
});
