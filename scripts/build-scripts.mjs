// Turns every step lua/<room>/<step>.lua into a module src/generated/<room>/<step>.ts: { text, sha, asciiSha }; and
// lua/store/ascii.lua into src/generated/store/ascii.ts, layouts/<room>.mjs into src/generated/layouts/<room>.ts.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { layoutModule, layouts } from "../layouts/generate.mjs";
import { asciiPrelude, composeScript, isStep, luaFolder } from "./lua/compose-script.mjs";

const generated = join(dirname(luaFolder), "src", "generated");

for (const room of readdirSync(luaFolder, { withFileTypes: true })) {
  if (!room.isDirectory()) continue;
  const folder = join(generated, room.name);
  const modules = new Map();
  for (const name of readdirSync(join(luaFolder, room.name))) {
    const file = join(luaFolder, room.name, name);
    if (!name.endsWith(".lua") || !isStep(readFileSync(file, "utf8"))) continue;
    const { text, sha, asciiSha } = composeScript(file);
    modules.set(
      name.replace(/\.lua$/, ".ts"),
      'import type { Script } from "../../store/contract.ts";\n\n' +
        `export const script = {\n  sha: "${sha}",\n  asciiSha: "${asciiSha}",\n  text: ${JSON.stringify(text)},\n} as const satisfies Script;\n`,
    );
  }
  if (room.name === "store") modules.set("ascii.ts", `export const ascii = ${JSON.stringify(asciiPrelude())};\n`);
  writeModules(folder, modules);
}
writeModules(
  join(generated, "layouts"),
  new Map(Object.entries(layouts).map(([room, layout]) => [`${room}.ts`, layoutModule(layout)])),
);

function writeModules(folder, modules) {
  if (modules.size > 0) mkdirSync(folder, { recursive: true });
  for (const [name, text] of modules) {
    const file = join(folder, name);
    if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text);
  }
  for (const name of existsSync(folder) ? readdirSync(folder) : []) if (!modules.has(name)) rmSync(join(folder, name));
}
