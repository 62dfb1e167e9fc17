import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { root } from "../house/sources.ts";

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: object };
/** The entries of the package, as files below src/entries/. */
export const ENTRIES = Object.keys(exports)
  .filter((path) => !/\.\w+$/.test(path))
  .map((path) => (path === "." ? "index" : path.slice(2)))
  .map((name) => (existsSync(join(root, `src/entries/${name}.ts`)) ? name : `structures/${name}`));

/** An exported name of an entry, and its declaration as a user's editor sees it. */
export interface PublicName {
  name: string;
  symbol: ts.Symbol;
  declarations: readonly ts.Declaration[];
  /** True if only the type is exported, so that no user can call its constructor. */
  isTypeOnly: boolean;
}

/**
 * The declarations that the package is published with, and their types. They are emitted into memory from the sources,
 * so that inferred types are written out and `@internal` members are gone.
 */
export class PublicTypes {
  readonly #emitted = new Map<string, string>();
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;

  constructor(entries: readonly string[]) {
    const files = entries.map((entry) => join(root, "src/entries", `${entry}.ts`));
    const config = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config;
    const { options: base } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const outDir = join(root, "node_modules/.types"); // nothing is written there
    const options = { ...base, noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true, outDir };
    const sources = ts.createProgram([...files, join(root, "src/entries/runtimes/wasm-modules.d.ts")], {
      ...options,
      rootDir: root,
    });
    sources.emit(
      undefined,
      (name, text) => this.#emitted.set(join(root, relative(outDir, name)).replace(/\.d\.ts$/, ".ts"), text),
      undefined,
      true,
    );
    this.#program = ts.createProgram(files, options, this.#host(options));
    this.#checker = this.#program.getTypeChecker();
  }

  #host(options: ts.CompilerOptions): ts.CompilerHost {
    const host = ts.createCompilerHost(options);
    const fromDisk = host.getSourceFile;
    host.getSourceFile = (name, version, ...rest) => {
      const text = this.#emitted.get(name);
      return text === undefined ? fromDisk(name, version, ...rest) : ts.createSourceFile(name, text, version, true);
    };
    return host;
  }

  namesOf(entry: string): PublicName[] {
    const file = this.#program.getSourceFile(join(root, "src/entries", `${entry}.ts`))!;
    return this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(file)!).map((alias) => {
      const symbol = this.#resolved(alias);
      const isTypeOnly = (alias.declarations ?? []).some((each) => ts.isTypeOnlyImportOrExportDeclaration(each));
      return { name: alias.name, symbol, declarations: symbol.declarations ?? [], isTypeOnly };
    });
  }

  /** The compiler's errors for a project. Where its files import the sources, the published types are read instead. */
  errorsOf(folder: string): string[] {
    const file = join(root, folder, "tsconfig.json");
    const { options, fileNames } = ts.parseJsonConfigFileContent(
      ts.readConfigFile(file, ts.sys.readFile).config,
      ts.sys,
      join(root, folder),
    );
    if (fileNames.length === 0) return [`${file} includes no file`];
    const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram(fileNames, options, this.#host(options)));
    const own = diagnostics.filter((each) => each.file === undefined || fileNames.includes(each.file.fileName));
    return own.map(({ file: source, start = 0, messageText }) => {
      const line = source ? source.getLineAndCharacterOfPosition(start).line + 1 : 0;
      return `${source ? relative(root, source.fileName) : file}:${line} ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    });
  }

  /** The symbol that a node names, if it is a type or value of oriel and not a type parameter. */
  namedBy(node: ts.Node): ts.Symbol | undefined {
    const name = nameIn(node);
    const found = name && this.#checker.getSymbolAtLocation(name);
    const symbol = found && this.#resolved(found);
    const isOwn = symbol?.declarations?.some((each) => this.#emitted.has(each.getSourceFile().fileName));
    return isOwn && !(symbol!.flags & ts.SymbolFlags.TypeParameter) ? symbol : undefined;
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }
}

function nameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  if (ts.isTypeQueryNode(node)) return node.exprName;
  if (ts.isExpressionWithTypeArguments(node)) return node.expression;
  return ts.isImportTypeNode(node) ? node.qualifier : undefined;
}

export function isPrivate(node: ts.Node): boolean {
  const isMarked = ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(isPrivateModifier);
  return isMarked === true || (ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name));
}

function isPrivateModifier({ kind }: ts.ModifierLike): boolean {
  return kind === ts.SyntaxKind.PrivateKeyword;
}
