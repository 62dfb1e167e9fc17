import { expect, test } from "vitest";
import { patchedCopy } from "../patched-copy.ts";

test("the policy of CONTRIBUTING.md answers like its oracle, in memory and in Redis", async () => {
  const { node, vitest } = patchedCopy("test/contributing/policy/idle-window.patch");
  await node("scripts/build-scripts.mjs");
  const report = await vitest(
    "test/limiter/contract/oracle.slow.test.ts",
    "test/limiter/contract/twins.test.ts",
    "-t",
    "idle-window|both forms",
  );
  expect(report.match(/✓.*(idle-window|both forms)/g)).toHaveLength(4);
});
