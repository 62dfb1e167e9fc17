import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

export interface SourceFile {
  /** Path from the root, with slashes. */
  path: string;
  text: string;
  /** Paths from the root of what it imports by relative path, types included. */
  imports: string[];
  /** Names of packages and Node modules it imports. */
  packages: string[];
}

const IMPORT = /(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)"([^"]+)"/gm;

/** Every source file below the folders, generated ones included where they were made. */
export function sourceFiles(folders: string[], endings: string[]): SourceFile[] {
  return folders
    .flatMap((folder) => walk(join(root, folder)))
    .flatMap((file) => {
      if (!endings.some((ending) => file.endsWith(ending))) return [];
      const text = readFileSync(file, "utf8");
      const all = [...text.matchAll(IMPORT)].map((match) => match[1]!);
      const path = fromRoot(file);
      const imports = all
        .filter((name) => name.startsWith("."))
        .map((name) => join(dirname(path), name).replaceAll("\\", "/"));
      return [{ path, text, imports, packages: all.filter((name) => !name.startsWith(".")) }];
    });
}

/** Output of builds. The site is built while other tests walk through the folders, so they must not enter these. */
const GENERATED = /^(src\/generated|docs\/api|docs\/\.vitepress\/(dist|cache|\.temp|config\.ts\.timestamp-.*))$/;

/** Paths from the root of all files of the repository, but not what a build makes. */
export function trackedFiles(): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith(".") && !["node_modules", "dist"].includes(entry.name))
    .flatMap((entry) => (entry.isDirectory() ? walk(join(root, entry.name), GENERATED) : [join(root, entry.name)]))
    .map(fromRoot);
}

function walk(folder: string, omitted?: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === "node_modules" || omitted?.test(fromRoot(path))) return [];
    return entry.isDirectory() ? walk(path, omitted) : [path];
  });
}

function fromRoot(path: string): string {
  return relative(root, path).replaceAll("\\", "/");
}
