// Composes the text of one script: first line, prelude, step with its includes, a line "-- each call" (where functions are
// cut in two: src/store/redis/scripting.ts), wrapper. Used by the build and by tests.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { layoutLocals, withNamedFields } from "../../layouts/generate.mjs";
import { minifyLua, namesFor } from "./minify-lua.mjs";

export const luaFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "lua");

/** True where a Lua file holds a step, and not only text that steps include. */
export function isStep(text) {
  return /^local function step\(k, a, now\)/m.test(text);
}

/** The name under which src/generated/scripts/<room>.ts exports the script of a step. */
export function scriptNameOf(fileName) {
  return `${fileName.replace(/\.lua$/, "").replace(/-(\w)/g, (_, letter) => letter.toUpperCase())}Script`;
}

/**
 * The script of one step file. `replace` gives other texts for includes by name: the tests put their own clock in the place of
 * "store/clock". Throws where the file is not of the form that lua/README.md tells.
 */
export function composeScript(stepFile, replace = {}) {
  const script = expandedScript(stepFile, replace);
  // Scripts of one room share their names, and so the text of their includes: that compresses better.
  const own = `${script.definitions}\n${script.eachCall}`;
  const names = namesOf(dirname(stepFile), replace) ?? namesFor([own]);
  const [definitions, eachCall] = [script.definitions, script.eachCall].map((text) => minifyLua(text, names));
  const text = `${script.first}\n${definitions}\n-- each call\n${eachCall}\n`;
  return { text };
}

/**
 * The text of a function that other programs load themselves, from a file that is no step. It keeps the first line and the comment
 * below it. `replace` as above.
 */
export function composeFunction(file, replace = {}) {
  const [head] = /^#!lua name=\w+\n(--(?! @).*\n)+/.exec(readFileSync(file, "utf8")) ?? [];
  if (!head) throw new Error(`${file}: the first line must be #!lua name=<library>, and a comment must follow it`);
  const rooms = [];
  const written = withNamedFields(expander(replace, rooms)(readFileSync(file, "utf8").slice(head.length)), rooms);
  checkLoads(file, written);
  const text = withNumbers(withoutComments(written));
  return `${head}${minifyLua(text, namesFor([text]))}\n`;
}

/** The text of a step's script as it is written, with its includes, for tests that change it. */
export function readableScript(stepFile) {
  const { first, definitions, eachCall } = expandedScript(stepFile, {});
  return `${first}\n${definitions}\n-- each call\n${eachCall}\n`;
}

const namesOfRooms = new Map();

/** The names for all steps in a folder of lua/. Undefined elsewhere. Kept, because they cost more than all else here. */
function namesOf(folder, replace) {
  if (dirname(folder) !== luaFolder) return undefined;
  const key = `${folder} ${JSON.stringify(replace)}`;
  if (!namesOfRooms.has(key)) {
    const files = readdirSync(folder).map((name) => join(folder, name));
    const steps = files.filter((file) => file.endsWith(".lua") && isStep(readFileSync(file, "utf8")));
    const scripts = steps.map((file) => expandedScript(file, replace));
    const texts = scripts.map(({ definitions, eachCall }) => `${definitions}\n${eachCall}`);
    namesOfRooms.set(key, namesFor([...new Set(texts)]));
  }
  return namesOfRooms.get(key);
}

/** The first line, what the step defines and what each call runs: with its includes and its constants' values. */
function expandedScript(stepFile, replace) {
  const step = readFileSync(stepFile, "utf8");
  const [first = ""] = step.split("\n", 1);
  if (!/^#!lua( flags=allow-oom)?$/.test(first))
    throw new Error(
      `${stepFile}: the first line is ${JSON.stringify(first)}; it must be #!lua or #!lua flags=allow-oom`,
    );
  const isPacked = /^-- packed$/m.test(step);
  const withoutClock = /^-- now when needed$/m.test(step) && !replace["store/clock"];
  for (const needed of isPacked ? [] : [/^local keys_per_step = \d+$/m, /^local arguments_per_step = \d+$/m])
    if (!needed.test(step)) throw new Error(`${stepFile}: a line ${needed.source} is missing`);
  if (!isStep(step)) throw new Error(`${stepFile}: local function step(k, a, now) is missing`);
  if (/"TIME"|'TIME'/i.test(step)) throw new Error(`${stepFile}: a step never reads TIME; it is given now`);

  const rooms = [];
  const noClock = withoutClock ? readFileSync(join(luaFolder, "store", "no-clock.lua"), "utf8") : undefined;
  const expand = expander(noClock ? { ...replace, "store/clock": noClock } : replace, rooms);
  const written = withNamedFields(
    expand(
      `-- @include store/refuse\n${isPacked ? "local inputs, keys_per_step, input_bytes\n" : ""}${step.slice(first.length + 1)}`,
    ),
    rooms,
  );
  checkLoads(stepFile, written);
  const definitions = withoutComments(written);
  const eachCall = withoutComments(expand(`-- @include store/${isPacked ? "each-packed" : "each"}`));
  return { first, definitions: withNumbers(definitions), eachCall };
}

/** Puts texts in the place of includes, each once. Adds the rooms of included layouts to `rooms`. */
function expander(replace, rooms) {
  const included = new Set();
  const expand = (text) =>
    text.replace(/^-- @include (\S+)$/gm, (_line, name) => {
      if (included.has(name)) return "";
      included.add(name);
      if (name.startsWith("layouts/")) {
        rooms.push(name.slice("layouts/".length));
        return layoutLocals(rooms.at(-1));
      }
      const text = replace[name] ?? readFileSync(join(luaFolder, `${name}.lua`), "utf8");
      return expand(text.replace(/^#!.*\n/, ""));
    });
  return expand;
}

/**
 * While a library of functions loads there is no `redis`, `math`, `string`, `struct` or any other name of Lua's: what is not
 * inside a function may call nothing. Constants travel as their values.
 */
function checkLoads(stepFile, text) {
  for (const [line, value] of text.matchAll(/^(?:local )?[a-z][\w, .[\]]*= (?!function\b)(.*)$/gm))
    if (/[A-Za-z_]\w*\s*[.(]/.test(value.replace(/"[^"]*"|'[^']*'|--.*/g, "")))
      throw new Error(
        `${stepFile}: ${line}: only functions may name what the server gives; it is not there while a library loads`,
      );
}

/** What src/store/http/ascii.ts puts behind the first line where arguments travel as ASCII. */
export function asciiPrelude() {
  const text = readFileSync(join(luaFolder, "store", "ascii.lua"), "utf8");
  return `${minifyLua(text, namesFor([text]))}\n`;
}

const CONSTANTS = /^local ([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*) = (.+)\n/gm;

/**
 * Constants, which are in capitals, travel as their values: a function that names a local of its script captures it anew at
 * every call, which on a server costs more than most of what is done with it.
 */
function withNumbers(text) {
  const values = new Map();
  const rest = text.replace(CONSTANTS, (line, names, list) => {
    const each = list.split(", ");
    for (const [i, name] of names.split(", ").entries()) {
      if (values.has(name) || each[i] === undefined) throw new Error(`${line.trim()}: a constant has one value`);
      values.set(name, /^([\d.]+|"[^"]*")$/.test(each[i]) ? each[i] : `(${each[i]})`);
    }
    return "";
  });
  return rest.replace(/"[^"\n]*"|'[^'\n]*'|--.*|\b[A-Z][A-Z0-9_]*\b/g, (word) => {
    if (!/^(["'-]|KEYS$|ARGV$)/.test(word) && !values.has(word)) throw new Error(`${word} is no constant`);
    return values.get(word) ?? word;
  });
}

/** Servers and bundles need no comments and no indentation: lines that hold only a comment are left out. */
function withoutComments(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => !/^(--.*)?$/.test(line))
    .join("\n");
}
