import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { init, initSync, kernel, LocalSeries } from "../../src/entries/slim.ts";

declare const WebAssembly: { Module: new (bytes: Uint8Array) => object };

const bytesOf = (build: string) => new Uint8Array(readFileSync(`dist/kernels.${build}.wasm`));
const simd = bytesOf("simd");
const scalar = bytesOf("scalar");
/** Starts, and is not ours: one function `f` without a result. */
const stranger = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  4,
  1,
  96,
  0,
  0,
  3,
  2,
  1,
  0,
  7,
  5,
  1,
  1,
  102,
  0,
  0,
  10,
  4,
  1,
  2,
  0,
  11,
);

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    response.statusCode = request.url === "/kernels.wasm" ? 200 : 404;
    response.end(request.url === "/kernels.wasm" ? simd : "not here");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

test("nothing is computed before init, and the error names the fix", () => {
  const refused = { code: "KERNEL", message: expect.stringContaining("init(...)") };
  expect(() => kernel.sum(Float64Array.of(1))).toThrow(expect.objectContaining(refused));
  expect(() => kernel.name).toThrow(expect.objectContaining(refused));
});

describe("init detects the kernels that it gets, and later calls use them", () => {
  const sources: Record<string, () => unknown> = {
    bytes: () => simd,
    "bytes within others": () => {
      const within = new Uint8Array(simd.length + 10);
      within.set(simd, 7);
      return within.subarray(7, 7 + simd.length);
    },
    "an ArrayBuffer": () => simd.slice().buffer,
    "a compiled module": () => new WebAssembly.Module(simd),
    "a module's namespace": () => ({ default: new WebAssembly.Module(simd) }),
    "a Response": () => fetch(`${url}/kernels.wasm`),
    "text of a URL": () => `${url}/kernels.wasm`,
    "a URL": () => new URL("/kernels.wasm", url),
    "a promise": () => Promise.resolve(simd),
  };
  test.each(Object.entries(sources))("%s", async (_name, source) => {
    expect(initSync(scalar)).toBe("wasm-scalar");
    expect(kernel.name).toBe("wasm-scalar");
    expect(await init(source() as object)).toBe("wasm-simd");
    expect(kernel.name).toBe("wasm-simd");
    const series = new LocalSeries({});
    series.record(3);
    expect(series.stats().max).toBe(3);
  });
});

describe("init refuses a value that is no kernel, and keeps the current ones", () => {
  const wrong: [string, () => unknown, string, string][] = [
    ["an answer of 404", () => `${url}/elsewhere`, "KERNEL", "status 404"],
    ["no WebAssembly", () => Uint8Array.of(1, 2, 3, 4), "KERNEL", "init: "],
    ["another's module", () => stranger, "KERNEL", "init: "],
    ["a module cut short", () => simd.subarray(0, 1000), "KERNEL", "init: "],
    ["an object of another kind", () => ({ some: "thing" }), "KERNEL", "init: "],
    ["nothing", () => undefined, "ARGUMENT", "source is undefined"],
    ["null", () => null, "ARGUMENT", "source is null"],
    ["a number", () => 7, "ARGUMENT", "source is 7"],
  ];
  test.each(wrong)("%s", async (_name, source, code, message) => {
    initSync(simd);
    const refused = { name: "OrielError", code, message: expect.stringContaining(message) };
    await expect(init(source() as object)).rejects.toMatchObject(refused);
    expect(kernel.name).toBe("wasm-simd");
    expect(kernel.sum(Float64Array.of(1, 2))).toBe(3);
  });

  test.each(["http://127.0.0.1:1/kernels.wasm", "file:///kernels.wasm", "kernels.wasm"])(
    "a download that fails: %s",
    async (url) => {
      await expect(init(url)).rejects.toMatchObject({
        code: "KERNEL",
        message: expect.stringContaining(url),
        cause: expect.any(TypeError),
      });
    },
  );
});
