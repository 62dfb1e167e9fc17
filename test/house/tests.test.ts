import { describe, expect, it } from "vitest";
import { sourceFiles } from "./sources.ts";

const files = sourceFiles(["test"], [".ts"]);
const helpers = files.filter(({ path }) => !path.endsWith(".test.ts") && path !== "test/harness/setup.ts");

describe("the files that tests share", () => {
  it("register no hook when loaded, because several test files share one process and its modules", () => {
    const hook = /^(before|after)(All|Each)\(/m;
    expect(helpers.length).toBeGreaterThan(100);
    expect(helpers.filter(({ text }) => hook.test(text)).map(({ path }) => path)).toEqual([]);
  });
});
