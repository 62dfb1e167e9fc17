import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { complaints } from "./prose/documents.js";
import { BANNED } from "./prose/patterns.js";
import { longSentences } from "./prose/sentences.js";
import { type Prose, proseOfLua, proseOfMarkdown, proseOfTypeScript } from "./prose/texts.js";
import { root, trackedFiles } from "./sources.js";

// PROSE=src/store checks one folder or file, finished or not.
const only = process.env.PROSE;
const parsed = new Map<string, Prose[]>(); // each file is parsed once for all tests

test("comments, messages and documents use none of the banned patterns", () => {
  const found = placesIn(readable(/\.(ts|lua|md)$/), ({ text }) =>
    BANNED.flatMap(({ pattern, better }) => {
      const match = pattern.exec(text);
      return match ? [`"${match[0].trim().slice(0, 40)}": write ${better}`] : [];
    }),
  );
  expect(found).toEqual([]);
});

test("comments and messages are made of short sentences", () => {
  expect(placesIn(readable(/\.(ts|lua)$/), longSentences)).toEqual([]);
});

test("documents are readable, by retext's linters", async () => {
  const found = await Promise.all(readable(/\.md$/).map((path) => complaints(path, read(path))));
  expect(found.flat()).toEqual([]);
});

test("a banned pattern, a long sentence and a hard one are found", async () => {
  const source = "/** Bytes are kept by who asks: so\n * many of them. */\nconst a = 1; // What it is.\n";
  const texts = proseOfTypeScript(source);
  expect(texts.map(({ text }) => BANNED.filter(({ pattern }) => pattern.test(text)).length)).toEqual([2, 1]);
  const chain = { line: 1, text: "One: two; three: four." };
  expect(longSentences(chain)).toHaveLength(1);
  expect(longSentences({ line: 1, text: `${"word ".repeat(41)}.` })).toHaveLength(1);
  expect(await complaints("a.md", "This is the the word.")).toHaveLength(1);
});

function placesIn(paths: string[], check: (prose: Prose) => string[]): string[] {
  return paths.flatMap((path) =>
    proseOf(path).flatMap((prose) => check(prose).map((complaint) => `${path}:${prose.line} ${complaint}`)),
  );
}

function readable(ending: RegExp): string[] {
  return trackedFiles().filter((path) => {
    if (!ending.test(path) || path.startsWith("test/house/prose")) return false;
    return only === undefined || path.startsWith(only);
  });
}

function proseOf(path: string): Prose[] {
  const known = parsed.get(path);
  if (known) return known;
  const parse = path.endsWith(".ts") ? proseOfTypeScript : path.endsWith(".lua") ? proseOfLua : proseOfMarkdown;
  const texts = parse(read(path));
  parsed.set(path, texts);
  return texts;
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
