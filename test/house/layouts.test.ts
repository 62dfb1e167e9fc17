import { describe, expect, it } from "vitest";
import { layouts, withNamedFields } from "../../layouts/generate.mjs";
import { sourceFiles } from "./sources.ts";

/** Files with literal offsets, and why they may have them. */
const LITERAL_OFFSETS: Record<string, string> = {
  "src/store/message-pack.ts": "the format is MessagePack's",
};

const AT = String.raw`(?:[\w.]+ \+ )?`;
/** A literal offset in a DataView call, in the start of a part of bytes, or in a byte behind the first. */
const LITERAL_OFFSET = new RegExp(
  [
    String.raw`\.[gs]et(?:Uint|Int|Float|BigInt|BigUint)\d+\(\s*${AT}\d+\s*[,)]`,
    String.raw`\.subarray\(\s*${AT}[1-9]\d*\s*[,)]`,
    String.raw`\b(?:bytes|envelope|header|record)!?\[[1-9]\d*\]`,
  ].join("|"),
);
/** Slots that are read and dropped, or a literal format of several fields. */
const UNNAMED_FIELDS = /_, _,[^=\n]*= struct\.unpack|struct\.(?:un)?pack\("<(?:[a-zA-Z]\d*){2,}"/;
const TYPESCRIPT_CONSTANT = /^(?:export )?const ([A-Z][A-Z0-9_]*)(?:: [^=]+)? = /gm;
const LUA_CONSTANTS = /^local ([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*) = /gm;

const typescript = sourceFiles(["src"], [".ts"]).filter(({ path }) => !path.startsWith("src/generated/"));
const lua = sourceFiles(["lua"], [".lua"]);

/** Names in capitals that a text declares. */
function declaredIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, names]) => names!.split(", "));
}

function isDeclaredByLayout(path: string, name: string): boolean {
  return name in (layouts[path.split("/")[1]!]?.constants ?? {});
}

describe("layouts", () => {
  it("hold every offset of a record", () => {
    const literal = typescript.filter(({ text }) => LITERAL_OFFSET.test(text)).map(({ path }) => path);
    expect(literal).toEqual(Object.keys(LITERAL_OFFSETS));
  });

  it("leave no field of a Lua step without a name", () => {
    expect(lua.filter(({ text }) => UNNAMED_FIELDS.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it("declare every constant that both languages have", () => {
    const inLua = new Set(lua.flatMap(({ text }) => declaredIn(text, LUA_CONSTANTS)));
    const repeated = [
      ...lua.flatMap(({ path, text }) =>
        declaredIn(text, LUA_CONSTANTS).filter((name) => isDeclaredByLayout(path, name)),
      ),
      ...typescript.flatMap(({ path, text }) =>
        declaredIn(text, TYPESCRIPT_CONSTANT).filter((name) => inLua.has(name) || isDeclaredByLayout(path, name)),
      ),
    ];
    expect(inLua.size).toBeGreaterThan(5);
    expect(repeated).toEqual([]);
  });

  it("are missed by code that repeats them", () => {
    for (const line of [
      "view.getUint32(8, true)",
      "reply.subarray(16)",
      "bytes[2] = kind",
      "view.setFloat64(at + 4, x)",
    ])
      expect(line).toMatch(LITERAL_OFFSET);
    for (const line of ["local _, _, number = struct.unpack(CHUNK, text)", 'struct.pack("<BdI4", 1, now, size)'])
      expect(line).toMatch(UNNAMED_FIELDS);
    for (const line of ["view.getUint32(WINDOW_LENGTH_AT, true)", "reply.subarray(ADDED_BYTES)", "reply[0] === 1"])
      expect(line).not.toMatch(LITERAL_OFFSET);
    expect('struct.unpack("<d", text, ENTRY_MS_AT + 1)').not.toMatch(UNNAMED_FIELDS);
    expect(declaredIn("local CLAIMED, DEAD = 10, 11\n", LUA_CONSTANTS)).toEqual(["CLAIMED", "DEAD"]);
    expect(declaredIn("export const SEQ_DIGITS = 14;\n", TYPESCRIPT_CONSTANT)).toEqual(["SEQ_DIGITS"]);
    expect(isDeclaredByLayout("src/queue/format/layout.ts", "SEQ_DIGITS")).toBe(true);
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
