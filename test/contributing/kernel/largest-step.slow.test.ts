import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { patchedCopy } from "../patched-copy.ts";

test("the kernel function of CONTRIBUTING.md returns the same bits in all kernels", async () => {
  const { folder, node, vitest } = patchedCopy("test/contributing/kernel/largest-step.patch");
  const config = join(folder, "asconfig.json");
  const { options, ...rest } = JSON.parse(readFileSync(config, "utf8"));
  // The optimizer takes five times as long as the rest of this test.
  writeFileSync(config, JSON.stringify({ ...rest, options: { ...options, optimizeLevel: 0, converge: false } }));
  await node("scripts/build-kernels.mjs");
  const report = await vitest("test/kernel/twins/largest-step.slow.test.ts");
  expect(report.match(/✓.*largest step of/g)).toHaveLength(66);
});
