import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, sourceFiles } from "../sources.ts";

const rows = [...readFileSync(join(root, "docs/glossary.md"), "utf8").matchAll(/^\| (.+?) \| (.+) \|$/gm)]
  .map(([, term, meaning]) => ({ term: term ?? "", meaning: meaning ?? "" }))
  .filter(({ term }) => term !== "term");

test("the glossary is sorted, and each meaning is a sentence", () => {
  const terms = rows.map(({ term }) => term);
  expect(terms.length).toBeGreaterThan(50);
  expect(terms).toEqual([...terms].sort((one, other) => one.localeCompare(other)));
  expect(rows.filter(({ meaning }) => !/^[A-Z`].*\.$/.test(meaning))).toEqual([]);
});

test("the code uses every term", () => {
  const code = sourceFiles(["src", "lua"], [".ts", ".lua"]).map(({ text }) => text);
  const unused = rows.filter(({ term }) => {
    const words = new RegExp(`\\b${term.replaceAll(" ", "[\\s*-]+")}`, "i"); // a term may break over two lines of a comment
    return !code.some((text) => words.test(text));
  });
  expect(unused.map(({ term }) => term)).toEqual([]);
});
