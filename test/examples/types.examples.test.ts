import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../house/sources.ts";
import { packageOf, placed } from "./placed.ts";

const names = readdirSync(join(root, "examples")).filter((name) => !name.endsWith(".md"));

/** The strict flags under which every example compiles, besides those of its own tsconfig.json. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.Preserve,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  experimentalDecorators: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
};

test("there is an example for each place that oriel runs in", () => {
  expect(names.sort()).toEqual([
    ...["browser", "express", "fastify", "fleet", "hono", "lambda", "nestjs", "nextjs", "token-budget", "worker"],
  ]);
});

test.each(names)("%s says in a README how to run it, and its packages name the release of oriel", (name) => {
  const files = readdirSync(join(root, "examples", name));
  expect(files).toEqual(expect.arrayContaining(["README.md", "package.json"]));
  const { dependencies, scripts } = packageOf(join(root, "examples", name));
  const { version } = packageOf(root) as unknown as { version: string };
  expect(dependencies.oriel).toBe(`^${version}`);
  expect(Object.keys(scripts)).not.toEqual([]);
});

test("the examples compile against the packed package", () => {
  const files = names.flatMap((name) => {
    const folder = placed(name, "typed-examples");
    const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return all.filter((path) => path.endsWith(".ts")).map((path) => join(folder, path));
  });
  expect(files.length).toBeGreaterThanOrEqual(names.length);
  const program = ts.createProgram(files, OPTIONS);
  const found = files.flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  });
  expect(found).toEqual([]);
});
