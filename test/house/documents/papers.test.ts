// The papers at the top level name files, headings, scripts and commits that exist.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { anchorsOf } from "../../docs/blocks.ts";
import { root } from "../sources.ts";

const PAPERS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];

const read = (path: string) => readFileSync(join(root, path), "utf8");
const isThere = (path: string) => existsSync(join(root, path));
const contributing = read("CONTRIBUTING.md");

test("CONTRIBUTING.md names only files and scripts that exist", () => {
  const prose = contributing.replace(/^```[\s\S]*?^```$/gm, "");
  const paths = [...prose.matchAll(/`((?:assembly|bench|docs|examples|layouts|lua|scripts|src|test)\/[\w./-]*)`/g)];
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.map(([, path]) => path!).filter((path) => !isThere(path))).toEqual([]);
  const { scripts } = JSON.parse(read("package.json"));
  const named = [...contributing.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test("CONTRIBUTING.md names only commits and old files that exist, by their right subjects", () => {
  const commits = [...contributing.matchAll(/`([0-9a-f]{8}) ([^`]+)`/g)].map(([, hash, subject]) => ({
    hash,
    subject,
  }));
  const files = [...contributing.matchAll(/`git show ([0-9a-f]{8}:[^`]+)`/g)].map(([, file]) => file!);
  expect([commits.length > 10, files.length]).toEqual([true, 1]);
  const subjects = commits.map(({ hash }) => git("log", "-1", "--format=%s", hash!));
  // A clone without the history, or a folder without git, has nothing to compare with.
  if (git("rev-parse", "--is-shallow-repository") !== "false" || subjects.every((subject) => subject === undefined))
    return;
  expect(subjects).toEqual(commits.map(({ subject }) => subject));
  expect(files.filter((file) => git("cat-file", "-t", file) !== "blob")).toEqual([]);
});

test("ARCHITECTURE.md names only files that exist", () => {
  const names = [...read("ARCHITECTURE.md").matchAll(/(?<![\w./-])(?:[\w-]+\/)+(?:[\w-]+\.(?:ts|lua|md))?(?![\w<])/g)];
  expect(names.length).toBeGreaterThan(40);
  expect(
    names.map(([name]) => name).filter((name) => !["", "src"].some((folder) => isThere(join(folder, name)))),
  ).toEqual([]);
});

test.each(PAPERS)("each link of %s leads to a file, and to a heading in it", (paper) => {
  const links = [...read(paper).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
  expect(links.length).toBeGreaterThan(1);
  const dead = links.filter(([, path = "", heading]) => {
    const target = path === "" ? paper : join(dirname(paper), path);
    return !isThere(target) || (heading !== undefined && !anchorsOf(read(target)).has(heading));
  });
  expect(dead.map(([link]) => link)).toEqual([]);
});

/** Undefined if the command fails. */
function git(...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}
