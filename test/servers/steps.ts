import { readdirSync, readFileSync } from "node:fs";
import { isStep, luaFolder } from "../../scripts/lua/compose-script.mjs";

/** Every script that a store may send. */
export const STEPS = readdirSync(luaFolder, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".lua") && isStep(readFileSync(`${luaFolder}/${path}`, "utf8")))
  .map((path) => path.slice(0, -".lua".length))
  .sort();
