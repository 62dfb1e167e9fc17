import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CLIENT_REASONS } from "../../../src/store/health/client-reasons.ts";
import { addReasons, reasonOf } from "../../../src/store/health/reason.ts";
import { errorOfReply, OUT_OF_MEMORY } from "../../../src/store/refusal.ts";
import { root } from "../sources.ts";

const rows = readFileSync(join(root, "docs", "errors.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));

test("docs/errors.md has every code", () => {
  const declared = readFileSync(join(root, "src", "errors.ts"), "utf8").match(/type OrielErrorCode =([^;]+);/)![1]!;
  const codes = declared.match(/[A-Z_]+/g)!;
  const text = readFileSync(join(root, "docs", "errors.md"), "utf8");
  const documented = [...text.matchAll(/^\| ([A-Z_, ]+) \|/gm)].flatMap(([, names]) => names!.split(", "));
  expect(codes.length).toBeGreaterThan(10);
  expect(documented.sort()).toEqual(codes.sort());
});

test("docs/errors.md has the message and the advice of every error that a server restricts calls with", () => {
  const words = rows.map(([, word]) => word);
  expect(words).toEqual([
    ...["NOPERM", "ERR unknown command", "ERR unknown command 'FCALL'", "CROSSSLOT", "MOVED", "READONLY"],
    ...["MASTERDOWN", "NOREPLICAS", "CLUSTERDOWN", "LOADING", "BUSY", "MISCONF", "OOM"],
  ]);
  addReasons(CLIENT_REASONS);
  for (const [, word, meaning, cure, transient] of rows.filter(([, each]) => each !== "OOM")) {
    const reason = reasonOf(new Error(`${word} and more`))!;
    expect(reason.text).toBe(`${meaning} (${word} and more); ${cure}`);
    expect(reason.isTransient ? "yes" : "no", word).toBe(transient);
  }
  const [, word, meaning, cure] = rows.at(-1)!;
  expect(OUT_OF_MEMORY).toBe(`${meaning}; ${cure}`);
  expect(errorOfReply(["k"], "ERROR", `${word} command not allowed`, false)).toMatchObject({
    code: "OVERLOADED",
    message: OUT_OF_MEMORY,
    applied: "no",
  });
});
