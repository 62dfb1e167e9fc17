import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { root } from "../house/sources.ts";
import type { Program } from "./blocks.ts";

/** The folders whose packages the pages use. The first one that has a package wins. */
const PACKAGES = [".", "test/http", "test/drain", "test/exporters", "bench", "test/runtimes", "docs"];
/** Each run has its own, so that several runs do not disturb each other. */
const folder = join(root, "node_modules", ".oriel", `blocks-${process.pid}`);

/** The strictest flags that a user may have, except that names of process.env may follow a dot. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.esnext.disposable.d.ts"],
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitReturns: true,
  noImplicitOverride: true,
  noFallthroughCasesInSwitch: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  skipLibCheck: true,
  experimentalDecorators: true, // as NestJS asks for
  emitDecoratorMetadata: true,
  noEmit: true,
};

/** A folder like a user's, in which the packages of the tests and oriel itself are installed. */
export function workspace(): string {
  const modules = join(folder, "node_modules");
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  link(root, join(modules, "oriel"));
  for (const from of PACKAGES) linkPackages(join(root, from, "node_modules"), modules);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  // Else Vitest takes the configuration of this repository, and skips files below node_modules.
  writeFileSync(
    join(folder, "vitest.config.mjs"),
    'export default { test: { include: ["*.test.mjs"], exclude: [] } };\n',
  );
  return folder;
}

export function removeWorkspace(): void {
  rmSync(folder, { recursive: true, force: true });
}

function linkPackages(from: string, to: string): void {
  if (!existsSync(from)) return;
  for (const name of readdirSync(from)) {
    if (name.startsWith(".")) continue;
    if (!name.startsWith("@")) link(join(from, name), join(to, name));
    else {
      mkdirSync(join(to, name), { recursive: true });
      for (const inner of readdirSync(join(from, name))) link(join(from, name, inner), join(to, name, inner));
    }
  }
}

function link(target: string, path: string): void {
  if (!existsSync(path)) symlinkSync(target, path, "junction");
}

function fileOf({ name }: Program, ending: string): string {
  return join(folder, name.replace(/[/:]/g, "-") + ending);
}

/** The compiler's errors, as `page:line message`. */
export function typeErrors(programs: readonly Program[]): string[] {
  const files = new Map(programs.map((program) => [fileOf(program, ".ts"), program]));
  for (const [file, { code }] of files) writeFileSync(file, `${code}export {};\n`);
  const compiled = ts.createProgram([...files.keys()], OPTIONS);
  return [...files].flatMap(([file, { name }]) => {
    const source = compiled.getSourceFile(file);
    return [...compiled.getSyntacticDiagnostics(source), ...compiled.getSemanticDiagnostics(source)].map(
      ({ messageText, start = 0 }) => {
        const text = source!.text.split("\n")[source!.getLineAndCharacterOfPosition(start).line];
        return `${name} ${ts.flattenDiagnosticMessageText(messageText, "\n")} in: ${text}`;
      },
    );
  });
}

/** Writes the program as JavaScript. */
export function written(program: Program): string {
  const { outputText } = ts.transpileModule(program.code, {
    compilerOptions: { ...OPTIONS, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true, noEmit: false },
  });
  const file = fileOf(program, program.isForVitest ? ".test.mjs" : ".mjs");
  writeFileSync(file, outputText);
  return file;
}
