import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { sourceFiles, trackedFiles } from "./sources.ts";

const MAX_LINES = 250;
const MAX_FILES_IN_FOLDER = 15;
const LUA_HEADER = ["KEYS", "ARGV", "Reply", "Cost"];

const files = sourceFiles(["src", "assembly", "lua", "test", "bench"], [".ts", ".lua"]).filter(
  (file) => !file.path.startsWith("src/generated/"),
);
const lines = (text: string) => text.split("\n").length - 1;

describe("the files", () => {
  it(`have at most ${MAX_LINES} lines`, () => {
    const long = files.filter((file) => lines(file.text) > MAX_LINES);
    expect(long.map((file) => `${file.path}: ${lines(file.text)}`)).toEqual([]);
  });

  it(`stand in folders of at most ${MAX_FILES_IN_FOLDER} files`, () => {
    const counts = new Map<string, number>();
    for (const path of trackedFiles().filter((path) => !path.endsWith("README.md")))
      counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const full = [...counts].filter(([, count]) => count > MAX_FILES_IN_FOLDER);
    expect(counts.size).toBeGreaterThan(20);
    expect(full.map(([folder, count]) => `${folder}: ${count}`)).toEqual([]);
  });

  it("are short on the whole: the median file of src has at most 120 lines", () => {
    const sizes = files
      .filter((file) => file.path.startsWith("src/"))
      .map((file) => lines(file.text))
      .sort((a, b) => a - b);
    expect(sizes[sizes.length >> 1]).toBeLessThanOrEqual(120);
  });

  it("keep unfinished work and skipped tests out", () => {
    const marks = new RegExp(
      `\\b(${["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].join("|")})\\b|\\.(only|todo)\\(`,
    );
    expect(files.filter((file) => marks.test(file.text)).map((file) => file.path)).toEqual([]);
  });

  it("have a header in each script with keys, arguments, reply and cost", () => {
    const steps = files.filter((file) => file.path.startsWith("lua/") && file.text.startsWith("#!lua"));
    expect(steps.length).toBeGreaterThan(0);
    const silent = steps.flatMap((file) =>
      LUA_HEADER.filter((word) => !file.text.includes(`-- ${word}`)).map((word) => `${file.path}: ${word}`),
    );
    expect(silent).toEqual([]);
  });

  it("never mark a script `no-writes`, which a demoted primary would still answer", () => {
    const wrong = files.filter((file) => file.path.endsWith(".lua") && /^#!lua.*no-writes/m.test(file.text));
    expect(wrong.map((file) => file.path)).toEqual([]);
  });
});
