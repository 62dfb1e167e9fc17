import { readFileSync } from "node:fs";
import { luaFolder } from "../../scripts/compose-script.mjs";

/** The numbers of lua/<room>/law.lua, by the names that they have in the process. */
export function constantsOfLaw(room: string): Record<string, number> {
  const text = readFileSync(`${luaFolder}/${room}/law.lua`, "utf8");
  const named = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    [...text.matchAll(/^local ([A-Z_]+) = (\d+)$/gm)].map(([, name, value]) => [named(name!), Number(value)]),
  );
}
