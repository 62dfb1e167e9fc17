import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LOCKED_FOLDERS, lockFile, missingPackages } from "../../scripts/complete-lock.mjs";

describe.each(LOCKED_FOLDERS)("package-lock.json of %s", (folder) => {
  const text = readFileSync(lockFile(folder), "utf8");

  test("has an entry for every optional package, so that npm ci takes it on every platform", () => {
    expect([...missingPackages(JSON.parse(text)).keys()]).toEqual([]);
  });

  test("names no download location", () => {
    expect(text).not.toContain("resolved");
    expect(text).not.toContain("://registry");
  });
});
