import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { composeScript, isStep, luaFolder, scriptNameOf } from "../../scripts/lua/compose-script.mjs";
import { minifyLua, namesFor } from "../../scripts/lua/minify-lua.mjs";
import { steppedScript } from "../harness/clock/stepped-script.ts";

const folder = mkdtempSync(join(tmpdir(), "oriel-lua-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const good = `#!lua
-- a comment
-- @include store/refuse
local keys_per_step = 1
local arguments_per_step = 0
local function step(k, a, now)
  return "x" -- stays
end
`;
function compose(text: string) {
  const file = join(folder, "step.lua");
  writeFileSync(file, text);
  return composeScript(file);
}

describe("composeScript", () => {
  test("joins prelude, step and wrapper, each include once, without comments", () => {
    const { text } = compose(good);
    expect(text.startsWith("#!lua\n")).toBe(true);
    expect(text.match(/local function \w+\(\w,\w\)return/g)).toHaveLength(1);
    expect(text).not.toMatch(/a comment|stays/);
    expect(text).toContain('return"x"end');
    expect(text.match(/"TIME"/g)).toHaveLength(1);
  });

  test.each([
    ["no first line", good.replace("#!lua\n", "")],
    ["a no-writes flag", good.replace("#!lua", "#!lua flags=no-writes")],
    ["no number of keys", good.replace("local keys_per_step = 1", "")],
    ["no number of arguments", good.replace("local arguments_per_step = 0", "")],
    ["no step", good.replace("(k, a, now)", "()")],
    ["a constant without a value", good.replace("local keys", "local ONE, OTHER = 1\nlocal keys")],
    ["a constant with two values", good.replace("local keys", "local ONE = 1\nlocal ONE = 2\nlocal keys")],
    ["a constant that is none", good.replace('"x"', "OTHER")],
    ["what no library may do while it loads", good.replace("local keys", "local call = redis.call\nlocal keys")],
    ["the same in an included file's words", good.replace("local keys", 'local head = string.rep("x", 2)\nlocal keys')],
    ["a step that reads TIME", good.replace('"x"', 'redis.call("TIME")[1]')],
  ])("refuses %s", (_what, text) => {
    expect(() => compose(text)).toThrowError();
  });

  test("replaces constants by their values, except in texts", () => {
    const constants = 'local MOST, LAYOUT = 7, "<B"\nlocal TINY = 2 ^ -3\nlocal keys';
    const { text } = compose(
      good.replace("local keys", constants).replace('"x"', '"MOST", MOST, LAYOUT, TINY, KEYS[k]'),
    );
    expect(text).toMatch(/return"MOST",7,"<B",\(2\^-3\),KEYS\[\w\]end/);
    expect(text).not.toMatch(/local [A-Z]/);
  });

  test("the tests' clock replaces TIME and nothing else", () => {
    writeFileSync(join(folder, "step.lua"), good);
    const { text } = steppedScript(join(folder, "step.lua"));
    expect(text).not.toContain('"TIME"');
    expect(text).toMatch(/local \w=tonumber\(ARGV\[1\]\)/);
  });
});

describe("minifyLua", () => {
  const minified = (text: string) => minifyLua(text, namesFor([text]));

  test.each([
    ["spaces and comments", 'local first = 1 -- why\nreturn first .. " -- two  "', 'local a=1 return a.." -- two  "'],
    ["what would be another token", "local n = 1\nreturn 1 .. n, n - -n", "local a=1 return 1 ..a,a- -a"],
    ["names of Redis and Lua", "local n = KEYS[1]\nreturn redis.call(n).ok", "local a=KEYS[1]return redis.call(a).ok"],
    [
      "fields apart from locals",
      'local at = { at = 1, at_all = function(at) local n = at return n end }\nreturn at.at, at["at_all"]',
      'local a={a=1,at_all=function(a)local b=a return b end}return a.a,a["at_all"]',
    ],
    [
      "a local as another one only where no block sees both",
      "local function one(text) return text end\nlocal function two(number) do local one_more = number return one(one_more) end end",
      "local function b(a)return a end local function d(a)do local c=a return b(c)end end",
    ],
    [
      "blocks to their ends",
      "for i = 1, 2 do if i > 1 then local x = i elseif i then local y = i else local z = i end end repeat local w = 1 until w",
      "for a=1,2 do if a>1 then local b=a elseif a then local b=a else local c=a end end repeat local b=1 until b",
    ],
  ])("keeps %s", (_what, text, short) => {
    expect(minified(text)).toBe(short);
  });

  test("refuses invalid Lua", () => {
    expect(() => minified("local a = [[long]] ? 1")).toThrowError("not Lua");
  });
});

describe("generated modules", () => {
  const steps = readdirSync(luaFolder, { withFileTypes: true })
    .filter((room) => room.isDirectory())
    .flatMap((room) => readdirSync(join(luaFolder, room.name)).map((file) => join(room.name, file)))
    .filter((file) => file.endsWith(".lua") && isStep(readFileSync(join(luaFolder, file), "utf8")));

  test.each(steps)("%s is the output of the build", async (file) => {
    const room = new URL(`../../src/generated/scripts/${dirname(file)}.ts`, import.meta.url).href;
    const scripts = await import(/* @vite-ignore */ room);
    expect(scripts[scriptNameOf(basename(file))]).toEqual(composeScript(join(luaFolder, file)));
  });
});
