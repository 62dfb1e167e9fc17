import { describe, expect, it } from "vitest";
import { layouts, withNamedFields } from "../../layouts/generate.mjs";
import { sourceFiles } from "./sources.ts";

/** Files and rooms with literal offsets, and why they may have them. */
const LITERAL_OFFSETS: Record<string, string> = {
  "src/store/message-pack.ts": "the format is MessagePack's",
};
const OFFSET = /\.[gs]et(?:Uint|Int|Float|BigInt|BigUint)\d+\(\s*(?:[\w.]+ \+ )?\d+\s*[,)]/;

describe("layouts", () => {
  it("hold every offset of a DataView call", () => {
    const literal = sourceFiles(["src"], [".ts"])
      .filter(({ path, text }) => !path.startsWith("src/generated/") && OFFSET.test(text))
      .map(({ path }) => path);
    const allowed = Object.keys(LITERAL_OFFSETS);
    expect(literal.filter((path) => !allowed.some((start) => path.startsWith(start)))).toEqual([]);
    expect(allowed.filter((start) => !literal.some((path) => path.startsWith(start)))).toEqual([]);
  });

  it("hold every constant of the Lua steps that include them", () => {
    const wrong = sourceFiles(["lua"], [".lua"]).flatMap(({ path, text }) => {
      const constants = layouts[path.split("/")[1]!]?.constants ?? {};
      return [...text.matchAll(/^local ([A-Z_]+) = /gm)].filter(([, name]) => name! in constants).map(() => path);
    });
    expect(wrong).toEqual([]);
  });

  it("declare every constant that a room's steps and its TypeScript share", () => {
    const room = (path: string) => path.split("/")[1]!;
    const ofLua = new Set(
      sourceFiles(["lua"], [".lua"]).flatMap(({ path, text }) =>
        [...text.matchAll(/^local ([A-Z_, ]+) = /gm)].flatMap(([, names]) =>
          names!.split(", ").map((name) => `${room(path)} ${name}`),
        ),
      ),
    );
    const twice = sourceFiles(["src"], [".ts"]).flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:export )?const ([A-Z_]+)\b/gm)]
        .filter(([, name]) => !path.startsWith("src/generated/") && ofLua.has(`${room(path)} ${name}`))
        .map(([, name]) => `${path} ${name}`),
    );
    expect(ofLua.size).toBeGreaterThan(5);
    expect(twice).toEqual([]);
  });

  it("leave no unpacked slots without a name in a step", () => {
    const anonymous = sourceFiles(["lua"], [".lua"])
      .filter(({ text }) => /_, _,[^=\n]*= struct\.unpack/.test(text))
      .map(({ path }) => path);
    expect(anonymous).toEqual([]);
  });

  it("let a step read fields by their names only", () => {
    const read = (line: string) => withNamedFields(line, ["journal"]);
    expect(read("local birth, length = struct.unpack(KNOWN, known)")).toBe(
      'local _, birth, length = struct.unpack("<dI4I4I4", known)',
    );
    expect(read("p.birth, p.length = struct.unpack(KNOWN, known)")).toContain('"<xxxxxxxxI4I4xxxx"');
    expect(read("its_number = struct.unpack(KNOWN, known)")).toContain('"<dxxxxxxxxxxxx"');
    expect(() => read("local length, birth = struct.unpack(KNOWN, known)")).toThrow("birth is no field of KNOWN");
    expect(() => read("local age = struct.unpack(KNOWN, known)")).toThrow("age is no field of KNOWN");
  });
});
