import { readFileSync } from "node:fs";
import { luaFolder } from "../../scripts/lua/compose-script.mjs";

/** The numbers of lua/<path>.lua, by their names in TypeScript. */
export function luaConstants(path: string): Record<string, number> {
  const text = readFileSync(`${luaFolder}/${path}.lua`, "utf8");
  const named = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    [...text.matchAll(/^local ([A-Z_]+) = (\d+)$/gm)].map(([, name, value]) => [named(name!), Number(value)]),
  );
}
