import { readFileSync } from "node:fs";
import { join } from "node:path";
import { composeScript, luaFolder } from "../../scripts/compose-script.mjs";
import type { Operation } from "../../src/store/contract.ts";
import type { ScriptOf } from "../../src/store/delivery.ts";
import type { Clock } from "../../src/time.ts";

const textOf = (name: string) => readFileSync(new URL(`./${name}`, import.meta.url), "utf8");
const clockText = textOf("stepped-clock.lua");
const foundText = textOf("stepped-found.lua");

/** Text and SHA-1 of a step file whose `now` is the first argument instead of the server's TIME. */
export function steppedScript(stepFile: string) {
  const finds = readFileSync(stepFile, "utf8").includes("@include window/older");
  return composeScript(stepFile, { "store/clock": clockText + (finds ? foundText : "") });
}

/**
 * For `redisStore(client, { scriptOf })`: runs each operation's step (lua/<name>.lua, or what `files` names) on `clock`.
 * The clock must run ahead of the server's (say, in the year 2100), so that the server itself expires nothing.
 */
export function onSteppedClock(clock: Clock, files: Record<string, string> = {}): ScriptOf {
  const made = new Map<string, ReturnType<typeof steppedScript>>();
  return (operation: Operation<never, unknown>) => {
    let script = made.get(operation.name);
    if (!script) {
      script = steppedScript(files[operation.name] ?? join(luaFolder, `${operation.name}.lua`));
      made.set(operation.name, script);
    }
    return { ...script, leading: () => [Math.floor(clock())] };
  };
}
