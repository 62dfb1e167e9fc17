import { describe, expect, it } from "vitest";
import { sourceFiles } from "./sources.ts";

const LUA_HEADER = ["KEYS", "ARGV", "Reply", "Cost"];

const files = sourceFiles(["src", "assembly", "lua", "test", "bench"], [".ts", ".lua"]).filter(
  (file) => !file.path.startsWith("src/generated/"),
);

describe("the files", () => {
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
