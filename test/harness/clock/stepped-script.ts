import { readFileSync } from "node:fs";
import { join } from "node:path";
import { composeScript, luaFolder } from "../../../scripts/lua/compose-script.mjs";
import type { Clock } from "../../../src/base/time.ts";
import type { Operation } from "../../../src/store/contract.ts";
import type { ScriptOf } from "../../../src/store/delivery/delivery.ts";

const textOf = (name: string) => readFileSync(new URL(`./${name}`, import.meta.url), "utf8");
const clockText = textOf("stepped-clock.lua");
const NOW = "local now = tonumber(ARGV[1])";
const SHIFTED = `local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])`;
const foundText = textOf("stepped-found.lua");

/** Kept: every test opens stores, and to compose a script takes milliseconds. */
const composed = new Map<string, ReturnType<typeof composeScript>>();

/** The script of a step file whose `now` is the first argument instead of the server's TIME; or that many ms from TIME. */
export function steppedScript(stepFile: string, isShift = false): ReturnType<typeof composeScript> {
  const key = `${stepFile} ${isShift}`;
  let script = composed.get(key);
  if (!script) {
    script = compose(stepFile, isShift);
    composed.set(key, script);
  }
  return script;
}

function compose(stepFile: string, isShift: boolean) {
  const finds = readFileSync(stepFile, "utf8").includes("@include journal/closed-chunks");
  const text = (isShift ? clockText.replace(NOW, SHIFTED) : clockText) + (finds ? foundText : "");
  return composeScript(stepFile, { "store/clock": text });
}

/**
 * For `redisStore(client, { scriptOf })`: runs each operation's step (lua/<name>.lua, or what `files` names) on `clock`.
 * The clock must run ahead of the server's (say, in the year 2100), so that the server itself expires nothing.
 */
export function onSteppedClock(clock: Clock, files: Record<string, string> = {}): ScriptOf {
  return scriptsWith(clock, ({ name }) => steppedScript(files[name] ?? join(luaFolder, `${name}.lua`)));
}

/** The same on the server's own clock, a number of ms ahead. The number may step, and stays well above 0. */
export function onShiftedClock(aheadMs: Clock): ScriptOf {
  return scriptsWith(aheadMs, ({ name }) => steppedScript(join(luaFolder, `${name}.lua`), true));
}

function scriptsWith(
  firstArgument: Clock,
  make: (operation: Operation<never, unknown>) => ReturnType<typeof steppedScript>,
): ScriptOf {
  // The same object each time, by which a store knows what it has loaded.
  const made = new Map<string, ReturnType<ScriptOf>>();
  return (operation: Operation<never, unknown>) => {
    let script = made.get(operation.name);
    if (!script) {
      script = { ...make(operation), leading: () => [Math.floor(firstArgument())] };
      made.set(operation.name, script);
    }
    return script;
  };
}
