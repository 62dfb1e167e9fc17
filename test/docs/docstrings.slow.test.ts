// Every public name is described where it is declared, and every option on a page.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../house/sources.ts";
import { ENTRIES, isPrivate, PublicTypes } from "../types/public-types.ts";
import { pages, textOf } from "./blocks.ts";

/** Options that oriel passes to clients, stores and sinks. Their docstrings are for the authors of those. */
const PASSED = ["SendOptions", "RunOptions", "RowsQuery", "SinkCallOptions"];
const types = new PublicTypes(ENTRIES);
const names = new Map(ENTRIES.flatMap((entry) => types.namesOf(entry)).map((each) => [each.symbol, each]));

function isDescribed(node: ts.Node): boolean {
  const target = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  return ts.getJSDocCommentsAndTags(target).length > 0;
}

test("the reference has a page for each entry", () => {
  const { entryPoints } = JSON.parse(readFileSync(join(root, "docs/typedoc.json"), "utf8")) as {
    entryPoints: string[];
  };
  // Those two have the names of the main entry.
  const entries = ENTRIES.filter((entry) => entry !== "js" && entry !== "slim");
  expect(entryPoints.sort()).toEqual(entries.map((entry) => `../src/entries/${entry}.ts`).sort());
});

test("each exported name has a docstring", () => {
  const bare = [...names.values()].filter(({ declarations }) => !declarations.some(isDescribed));
  expect(names.size).toBeGreaterThan(150);
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test("each method of an exported class has a docstring", () => {
  const bare = [...names.values()].flatMap(({ name, declarations, isTypeOnly }) =>
    isTypeOnly ? [] : declarations.filter(ts.isClassDeclaration).flatMap((node) => bareMethods(name, node)),
  );
  expect(bare).toEqual([]);
});

/** Overloads share one docstring. */
function bareMethods(name: string, node: ts.ClassDeclaration): string[] {
  const methods = node.members.filter(ts.isMethodDeclaration).filter((member) => !isPrivate(member));
  const described = new Set(methods.filter(isDescribed).map((member) => member.name.getText()));
  return [...new Set(methods.map((member) => member.name.getText()))]
    .filter((method) => !described.has(method))
    .map((method) => `${name}.${method}`);
}

test("a page mentions each option", () => {
  const text = pages().map(textOf).join("\n");
  const options = [...names.values()].filter(
    ({ name }) => /(Options|Query|Rules)$/.test(name) && !PASSED.includes(name),
  );
  const unnamed = options.flatMap(({ name, declarations }) =>
    declarations
      .filter(ts.isInterfaceDeclaration)
      .flatMap((node) => node.members)
      .filter(ts.isPropertySignature)
      .filter((member) => !isPrivate(member) && !isInternal(member))
      .map((member) => member.name.getText())
      .filter((option) => !new RegExp(`\\b${option}\\b`).test(text))
      .map((option) => `${name}.${option}`),
  );
  expect(options.length).toBeGreaterThan(30);
  expect(unnamed).toEqual([]);
});

function isInternal(node: ts.Node): boolean {
  return ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal");
}
