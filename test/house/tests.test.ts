import { describe, expect, it } from "vitest";
import { PARTS } from "../../scripts/test/parts.mjs";
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

describe("the test files", () => {
  it("belong to a part by their names, so that none is left out", () => {
    const named = new RegExp(
      `^[^.]+(\\.own)?(\\.(${Object.keys(PARTS)
        .filter((part) => part !== "core")
        .join("|")}))?\\.test\\.ts$`,
    );
    const names = files.map(({ path }) => path).filter((path) => path.endsWith(".test.ts"));
    expect(names.length).toBeGreaterThan(200);
    expect(names.filter((path) => !named.test(path.slice(path.lastIndexOf("/") + 1)))).toEqual([]);
  });

  it("have a process of their own if they step its timers, which those of other files would join", () => {
    const stepping = files.filter(
      ({ path, text }) => path.endsWith(".test.ts") && text.includes("useFake" + "Timers("),
    );
    expect(stepping.length).toBeGreaterThan(10);
    expect(stepping.map(({ path }) => path).filter((path) => !path.includes(".own."))).toEqual([]);
  });
});
