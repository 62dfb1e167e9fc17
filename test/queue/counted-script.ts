import { join } from "node:path";
import { luaFolder, readableScript } from "../../scripts/lua/compose-script.mjs";
import type { ScriptOf } from "../../src/store/delivery/delivery.ts";

const COUNT = `
local given, words = redis, 0
local redis = setmetatable({ call = function(...)
  local reply = given.call(...)
  words = words + select("#", ...) + (type(reply) == "table" and #reply or 1)
  return reply
end }, { __index = given })
`;
const KEEP = `
local key = KEYS[1] .. ":words"
if words > tonumber(given.call("GET", key) or 0) then given.call("SET", key, words) end
return replies
`;

/** The same object each time, by which a store knows what it has loaded. */
const made = new Map<string, { text: string }>();

/** For `redisStore(client, { scriptOf })`: a step that keeps the most words of one call at its first key and ":words". */
export const countedScript: ScriptOf = ({ name }) => {
  let script = made.get(name);
  if (!script) {
    const text = readableScript(join(luaFolder, `${name}.lua`));
    script = { text: text.replace("\n", COUNT).replace(/\nreturn replies\n*$/, KEEP) };
    made.set(name, script);
  }
  return script;
};
