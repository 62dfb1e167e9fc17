// The workflows run commands that exist, and each part of the tests. CITATION.cff has the version of the package.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PARTS } from "../../../scripts/test/parts.mjs";
import { root } from "../sources.ts";

const folder = join(root, ".github/workflows");
const workflows = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")] as const);
const { scripts, version, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

test.each(workflows)("%s runs scripts of package.json, with no more rights than to read", (_name, text) => {
  const named = [...text.matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)].map(([, run, own]) => run ?? own!);
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  expect(text).toMatch(/^permissions:\n {2}contents: read$/m);
});

test("each part of the tests has a job, and each supported version of Node", () => {
  const text = workflows.find(([name]) => name === "test.yml")![1];
  const listOf = (key: string) => new RegExp(`${key}:\\s+\\[(.*)\\]`).exec(text)![1]!.split(", ");
  const rest = Object.keys(PARTS).filter((part) => part !== "core"); // that is npm test
  expect(listOf("part").sort()).toEqual([...rest, "check", "forms"].sort());
  expect(`>=${Math.min(...listOf("node").map(Number))}`).toBe(engines.node);
});

test("CITATION.cff has the version of the package", () => {
  expect(readFileSync(join(root, "CITATION.cff"), "utf8")).toContain(`\nversion: ${version}\n`);
});
