import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../sources.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");

describe("README.md", () => {
  it("shows a first screen whose code prints what it says", () => {
    const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(readme)!;
    const [, printed] = /```text\n([\s\S]*?)```/.exec(readme)!;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", code], {
      cwd: root,
      encoding: "utf8",
    });
    expect(output).toBe(printed);
    expect(
      code
        .trim()
        .split("\n")
        .filter((line) => line !== "").length,
    ).toBeLessThanOrEqual(10);
  });

  it("names only scripts that package.json has", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const named = [...readme.matchAll(/npm (?:run )?(start|test|run [a-z]+|(?<=run )[a-z]+)/g)].map((m) =>
      m[1]!.replace("run ", ""),
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(named).toContain("bench");
  });
});
