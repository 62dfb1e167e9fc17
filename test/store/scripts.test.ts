import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { composeScript, isStep, luaFolder } from "../../scripts/compose-script.mjs";
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
  test("puts prelude, step and wrapper together, each include once, with the SHA-1 of just that text", () => {
    const { text, sha } = compose(good);
    expect(text.startsWith("#!lua\n")).toBe(true);
    expect(text.match(/local function refuse/g)).toHaveLength(1);
    expect(text).not.toContain("a comment");
    expect(text).toContain('return "x" -- stays');
    expect(text.match(/"TIME"/g)).toHaveLength(1);
    expect(sha).toBe(createHash("sha1").update(text).digest("hex"));
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

  test("puts the values of constants in their places, and leaves texts as they are", () => {
    const constants = 'local MOST, LAYOUT = 7, "<B"\nlocal TINY = 2 ^ -3\nlocal keys';
    const { text } = compose(
      good.replace("local keys", constants).replace('"x"', '"MOST", MOST, LAYOUT, TINY, KEYS[k]'),
    );
    expect(text).toContain('return "MOST", 7, "<B", (2 ^ -3), KEYS[k] -- stays');
    expect(text).not.toMatch(/local [A-Z]/);
  });

  test("the tests' clock takes the place of TIME and of nothing else", () => {
    writeFileSync(join(folder, "step.lua"), good);
    const { text } = steppedScript(join(folder, "step.lua"));
    expect(text).not.toContain('"TIME"');
    expect(text).toContain("local now = tonumber(ARGV[1])");
  });
});

describe("generated modules", () => {
  const steps = readdirSync(luaFolder, { withFileTypes: true })
    .filter((room) => room.isDirectory())
    .flatMap((room) => readdirSync(join(luaFolder, room.name)).map((file) => join(room.name, file)))
    .filter((file) => file.endsWith(".lua") && isStep(readFileSync(join(luaFolder, file), "utf8")));

  test.each(steps)("%s is what the build made of it", async (file) => {
    const { script } = await import(
      /* @vite-ignore */ new URL(`../../src/generated/${file.replace(/\.lua$/, ".ts")}`, import.meta.url).href
    );
    expect(script).toEqual(composeScript(join(luaFolder, file)));
  });
});
