import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../sources.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");

describe("README.md", () => {
  it("is at most 130 lines, and begins with a server of at most 15", () => {
    expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(130);
    const [, code = ""] = /```ts serves\n([\s\S]*?)```/.exec(readme)!;
    expect(code.split("\n").filter((line) => line !== "").length).toBeLessThanOrEqual(15);
    expect(readme.indexOf(code)).toBeLessThan(readme.indexOf("\n## "));
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
