import { afterEach, expect, test } from "vitest";
import { forceKernel } from "../../src/entries/kernel.ts";
import { program } from "../cli/command.ts";
import { reportOf } from "./report-of.ts";

const CLOSED = "redis://127.0.0.1:1";
const { ORIEL_KERNEL, NODE_OPTIONS } = process.env;
afterEach(() => {
  for (const [name, value] of Object.entries({ ORIEL_KERNEL, NODE_OPTIONS }))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  forceKernel(null);
});

async function kernelWith(name: string) {
  process.env.ORIEL_KERNEL = name;
  forceKernel(null);
  return (await reportOf(CLOSED)).check("kernel");
}

test("the fastest kernel is good", async () => {
  expect(await kernelWith("")).toEqual({
    name: "kernel",
    verdict: "good",
    text: "this process computes with wasm-simd, the fastest kernel",
    facts: { used: "wasm-simd", possible: "wasm-simd" },
  });
});

test.each(["wasm-scalar", "js"])("%s is slower than possible, and stays the chosen one", async (name) => {
  expect(await kernelWith(name)).toMatchObject({
    verdict: "degraded",
    text: `this process computes with ${name}; wasm-simd works here, too, and is faster`,
    advice: "Unset ORIEL_KERNEL.",
    facts: { used: name, possible: "wasm-simd" },
  });
  expect((await reportOf(CLOSED)).check("kernel").facts).toMatchObject({ used: name });
});

test("a name that no kernel has", async () => {
  process.env.ORIEL_KERNEL = "fast";
  const { stdout } = await program(["doctor", "--redis", CLOSED]);
  expect(stdout).toMatch(
    /^unusable +kernel +kernel "fast" is not available.* -> Unset ORIEL_KERNEL, or name wasm-simd, /m,
  );
});

test("a runtime without WebAssembly", async () => {
  process.env.NODE_OPTIONS = "--jitless";
  const { stdout, stderr } = await program(["doctor", "--redis", CLOSED]);
  expect(stdout, stderr).toMatch(
    /^degraded +kernel +this process computes with js, because faster kernels do not work in this runtime -> Use a runtime/m,
  );
});
