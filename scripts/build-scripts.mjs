// Turns the steps lua/<room>/<step>.lua into one module for each room, src/generated/scripts/<room>.ts, which exports
// <step>Script: { text }. Texts that stand together compress better in a bundle, which drops unused ones. A text that is nearly the
// one of another step is made of that one, when it is needed. Also turns lua/store/ascii.lua into
// src/generated/scripts/store.ts, layouts/<room>.mjs into src/generated/layouts/<room>.ts, the names that the scripts of a room
// call into src/generated/calls.ts, and the version of package.json into src/generated/version.ts, because a bundle would contain
// the whole of package.json.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { layoutModule, layouts } from "../layouts/generate.mjs";
import { asciiPrelude, composeScript, isStep, luaFolder, scriptNameOf } from "./lua/compose-script.mjs";

const generated = join(dirname(luaFolder), "src", "generated");

/** A call by redis.call or another name of it, as minifiers leave it. */
const CALL = /\w\(\s*["']([A-Z]+)["']/g;

const calls = {};
const modules = new Map([["store.ts", `export const ascii = ${JSON.stringify(asciiPrelude())};\n`]]);
for (const room of readdirSync(luaFolder, { withFileTypes: true })) {
  if (!room.isDirectory()) continue;
  const scripts = new Map();
  for (const name of readdirSync(join(luaFolder, room.name))) {
    const file = join(luaFolder, room.name, name);
    if (!name.endsWith(".lua") || !isStep(readFileSync(file, "utf8"))) continue;
    scripts.set(scriptNameOf(name), composeScript(file));
  }
  const exported = [...scripts].map(([name, { text }], i) => {
    const value = textOrParts(text, [...scripts].slice(0, i));
    return `export const ${name} = {\n  ${value},\n} as const satisfies Script;\n`;
  });
  if (exported.length === 0) continue;
  modules.set(`${room.name}.ts`, [`import type { Script } from "../../store/contract.ts";\n`, ...exported].join("\n"));
  const called = [...scripts.values()].flatMap(({ text }) => [...text.matchAll(CALL)].map(([, name]) => name));
  calls[room.name] = [...new Set(called)].sort();
}
writeModules(join(generated, "scripts"), modules);
writeModules(
  join(generated, "layouts"),
  new Map(Object.entries(layouts).map(([room, layout]) => [`${room}.ts`, layoutModule(layout)])),
);

writeFileSync(join(generated, "calls.ts"), `export const calls = ${JSON.stringify(calls)};\n`);
const { version } = JSON.parse(readFileSync(join(generated, "..", "..", "package.json"), "utf8"));
writeFileSync(join(generated, "version.ts"), `export const version = ${JSON.stringify(version)};\n`);

/** The property `text`; where it has at least 4 KiB in common with an earlier script, what makes it of that one. */
function textOrParts(text, earlier) {
  for (const [name, { text: other }] of earlier) {
    const from = other.indexOf("\n");
    const own = text.indexOf("\n");
    let before = 0;
    while (before < text.length - own && text[own + before] === other[from + before]) before++;
    let after = 0;
    while (after < text.length - own - before && text.at(-1 - after) === other.at(-1 - after)) after++;
    if (before + after < 4096) continue;
    const parts = [
      JSON.stringify(text.slice(0, own)),
      `${name}.text.slice(${from}, ${from + before})`,
      JSON.stringify(text.slice(own + before, text.length - after)),
      `${name}.text.slice(-${after})`,
    ];
    return `get text() {\n    return ${parts.join(" + ")};\n  }`;
  }
  return `text: ${JSON.stringify(text)}`;
}

function writeModules(folder, modules) {
  if (modules.size > 0) mkdirSync(folder, { recursive: true });
  for (const [name, text] of modules) {
    const file = join(folder, name);
    if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text);
  }
  for (const name of existsSync(folder) ? readdirSync(folder) : []) if (!modules.has(name)) rmSync(join(folder, name));
}
