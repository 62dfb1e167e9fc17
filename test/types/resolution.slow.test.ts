import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { root } from "../house/sources.ts";

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const names = Object.keys(exports).filter((name) => name !== "./package.json");
const { Bundler, Node16 } = ts.ModuleResolutionKind;

/** The file of types that an import from a file of that name is resolved to. */
function typesOf(name: string, from: string, moduleResolution: ts.ModuleResolutionKind, customConditions?: string[]) {
  const module = moduleResolution === Bundler ? ts.ModuleKind.ESNext : ts.ModuleKind.Node16;
  const options = { moduleResolution, module, ...(customConditions && { customConditions }) };
  const mode = from.endsWith(".cts") ? ts.ModuleKind.CommonJS : ts.ModuleKind.ESNext;
  const found = ts.resolveModuleName(
    `oriel${name.slice(1)}`,
    join(root, from),
    options,
    ts.sys,
    undefined,
    undefined,
    mode,
  );
  return found.resolvedModule?.resolvedFileName;
}

describe("the types of the built package", () => {
  it("are found for every entry, by import and by require, under all conditions", () => {
    const found = names.flatMap((name) => [
      typesOf(name, "user.mts", Node16),
      typesOf(name, "user.cts", Node16),
      ...[[], ["workerd"], ["edge-light"], ["browser"]].map((each) => typesOf(name, "user.ts", Bundler, each)),
    ]);
    expect(found.filter((file) => !file || !/\.d\.c?ts$/.test(file))).toEqual([]);
    expect(typesOf(".", "user.cts", Node16)).toMatch(/index\.d\.cts$/);
  });

  it("need no types of Node", () => {
    const files = [
      ...new Set(names.flatMap((name) => ["user.mts", "user.cts"].map((from) => typesOf(name, from, Node16)!))),
    ];
    expect(files.length).toBeGreaterThan(10);
    const program = ts.createProgram(files, {
      noEmit: true,
      strict: true,
      module: ts.ModuleKind.Node16,
      moduleResolution: Node16,
      lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
      types: [],
    });
    const reported = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
    expect(reported).toEqual([]);
  });

  it.each(["user.mts", "user.cts"])("declare every class as one, which is a type too, in %s", (from) => {
    const files = [...new Set(names.map((name) => typesOf(name, from, Node16)!))];
    const program = ts.createProgram(files, { module: ts.ModuleKind.Node16, moduleResolution: Node16, types: [] });
    const checker = program.getTypeChecker();
    const classes: string[] = [];
    const constants: string[] = [];
    for (const file of files) {
      const module = checker.getSymbolAtLocation(program.getSourceFile(file)!);
      for (const exported of module ? checker.getExportsOfModule(module) : []) {
        const { Alias, Value, Type } = ts.SymbolFlags;
        const symbol = exported.flags & Alias ? checker.getAliasedSymbol(exported) : exported;
        if (!(symbol.flags & Value) || checker.getTypeOfSymbol(symbol).getConstructSignatures().length === 0) continue;
        (symbol.flags & Type ? classes : constants).push(`${exported.name} of ${file}`);
      }
    }
    expect(constants).toEqual([]);
    expect(classes.length).toBeGreaterThan(100);
  });
});
