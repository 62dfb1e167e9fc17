import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../house/sources.ts";
import { filesOf } from "./patched-copy.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const text = read("CONTRIBUTING.md");

/** A fence of CONTRIBUTING.md that names its source: a file, `file#region`, a patch, or `patch:file that it adds`. */
const BLOCK = /^(```\w+ (test\/contributing\/\S+)\n)[\s\S]*?^```$/gm;

test("CONTRIBUTING.md shows its examples as they are (vitest -u updates it)", async () => {
  const current = text.replace(BLOCK, (_, fence, source) => `${fence}${contentOf(source)}\`\`\``);
  await expect(current).toMatchFileSnapshot("../../CONTRIBUTING.md");
});

test("CONTRIBUTING.md shows every example", () => {
  const sources = [...text.matchAll(BLOCK)].map(([, , source]) => source!.replace(/[#:].*/, ""));
  const shown = new Set(sources.filter((source) => !source.endsWith(".test.ts")));
  const examples = ["exporter", "kernel", "policy", "sink", "store"].flatMap((kind) =>
    readdirSync(join(root, "test/contributing", kind))
      .filter((name) => !name.endsWith(".test.ts"))
      .map((name) => `test/contributing/${kind}/${name}`),
  );
  expect([...shown].sort()).toEqual(examples.sort());
});

test("CONTRIBUTING.md names only files and scripts that exist", () => {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
  const paths = [...prose.matchAll(/`((?:assembly|docs|examples|layouts|lua|scripts|src|test)\/[\w./-]*)`/g)];
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.map(([, path]) => path!).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const { scripts } = JSON.parse(read("package.json"));
  const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

function contentOf(source: string): string {
  const [, path = "", mark, part = ""] = /^([^#:]+)([#:]?)(.*)$/.exec(source) ?? [];
  if (mark === "#") return regionOf(path, part);
  if (!path.endsWith(".patch")) return read(path);
  const { added, changed } = filesOf(path);
  return mark === ":" ? added.get(part)! : changed;
}

/** The lines between `// #region name` and `// #endregion`, without their common indentation. */
function regionOf(path: string, name: string): string {
  const [, indent = "", lines = ""] =
    new RegExp(`^( *)// #region ${name}\\n([\\s\\S]*?)^ *// #endregion`, "m").exec(read(path)) ?? [];
  return lines.replaceAll(new RegExp(`^${indent}`, "gm"), "");
}

test("ARCHITECTURE.md names only files that exist", () => {
  const names = [...read("ARCHITECTURE.md").matchAll(/(?<![\w./-])(?:[\w-]+\/)+(?:[\w-]+\.(?:ts|lua|md))?(?![\w<])/g)];
  expect(names.length).toBeGreaterThan(40);
  const isThere = (name: string) => ["", "src"].some((folder) => existsSync(join(root, folder, name)));
  expect(names.map(([name]) => name).filter((name) => !isThere(name))).toEqual([]);
});
