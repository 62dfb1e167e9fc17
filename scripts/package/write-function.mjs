// Writes dist/oriel_window.lua: the function that programs in other languages load into Redis (lua/journal/window.lua).
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { composeFunction, luaFolder } from "../lua/compose-script.mjs";

const text = composeFunction(join(luaFolder, "journal", "window.lua"));
writeFileSync(join(dirname(luaFolder), "dist", "oriel_window.lua"), text);
