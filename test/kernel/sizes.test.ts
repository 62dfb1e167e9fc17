// The download size of the kernels. Raise a budget on purpose, together with the numbers of docs/structures/kernel.md, or not at all.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { wasmBase64 as scalarBase64 } from "../../src/generated/kernels.scalar.ts";
import { wasmBase64 as simdBase64 } from "../../src/generated/kernels.simd.ts";

test.each([
  ["kernels.simd.wasm", simdBase64, 25_600, 9_984],
  ["kernels.scalar.wasm", scalarBase64, 18_944, 7_936],
  ["runs.simd.wasm", readFileSync("dist/runs.simd.wasm", "base64"), 9_216, 3_456],
])("%s", (_file, base64, budgetBytes, gzippedBudgetBytes) => {
  const bytes = Buffer.from(base64, "base64");
  expect(bytes.length).toBeLessThanOrEqual(budgetBytes);
  expect(gzipSync(bytes, { level: 9 }).length).toBeLessThanOrEqual(gzippedBudgetBytes);
});
