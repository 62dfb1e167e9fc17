import type { ServerError } from "../../store/delivery/client.ts";
import { type Check, isMissing, list, patternOf, rulesOf } from "./check.ts";
import { AFTER_KEY, COMMANDS_OF } from "./commands.ts";
import type { Asker } from "./connection.ts";
import { refusedScripting } from "./scripts.ts";

/** The structures with keys that begin with the store's prefix. */
const PREFIXED = [
  ...["Series", "SeriesGroup", "Limiter", "Lock", "ReadWriteLock", "Semaphore", "LockedWindow"],
  ...["Counters", "DelayQueue", "Breaker", "FleetMetrics"],
];
/** The beginning of the keys of a LockedWindow, which have no store's prefix. */
const LOCKED_WINDOWS = "sw_counter_bytes:";
/** The beginnings of all channels, and the structure that waits on them. */
export const CHANNEL_FAMILIES: Readonly<Record<string, string>> = {
  "": "Lock or Semaphore",
  "due:": "DelayQueue",
};
/** The structures with the option `replicas`. */
const REPLICATED = ["Series", "SeriesGroup", "Lock", "ReadWriteLock", "Semaphore", "Counters", "DelayQueue"];

/** A key with each prefix that keys of oriel have. */
export function keysOf(prefix: string, tag: string): string[] {
  return [`${prefix}{${tag}}`, `${LOCKED_WINDOWS}{${tag}}`];
}

/** How long a probe's key lives if it cannot be deleted. */
export const KEY_LIFE_MS = 10_000;

/**
 * Checks the user's rights with every command of every structure, on one key of its own, and on each family of keys.
 * `key` exists, as a string "0" that expires. It is deleted.
 */
export async function rights(asker: Asker, prefix: string, tag: string, nowMs: number): Promise<Check> {
  const key = `${prefix}{${tag}}`;
  const words = (command: string): string[] => {
    const after = AFTER_KEY[command];
    if (after) return [command, key, ...after];
    if (command === "TIME") return ["TIME"];
    if (command === "SET") return ["SET", key, "0", "XX", "PX", String(KEY_LIFE_MS)];
    if (command === "PEXPIREAT") return ["PEXPIREAT", key, String(nowMs + KEY_LIFE_MS)];
    // Of a key that is not there: the probe's own must expire.
    if (command === "PERSIST") return ["PERSIST", `${key}:none`];
    return [command, key, key]; // COPY and RENAME onto itself
  };
  // No call fails without PUBLISH. Waiters then poll, which the check of messages reports.
  const all = new Set(
    Object.values(COMMANDS_OF)
      .flat()
      .filter((command) => command !== "PUBLISH"),
  );
  const missing = new Map<string, ServerError>();
  const last = ["DEL"];
  for (const command of [...[...all].filter((each) => !last.includes(each)).sort(), ...last]) {
    const reply = await asker.ask(...words(command));
    if (isMissing(reply)) missing.set(command, reply);
  }
  const keys = await refusedKeys(asker, prefix, tag);
  const scripting = await refusedScripting(asker, key);
  const waited = asker.connection.subscribe ? await asker.ask("WAIT", "0", "0") : undefined;
  const optional = isMissing(waited) ? new Map([["WAIT", waited]]) : new Map<string, ServerError>();
  const refused = [...scripting, ...missing, ...optional];
  const facts = { commands: refused.map(([command]) => command), keys: [...keys.keys()] };
  if (refused.length === 0 && keys.size === 0)
    return { name: "rights", verdict: "good", text: `the user may send all ${all.size} commands of the steps`, facts };
  const failing = Object.entries(COMMANDS_OF).flatMap(([structure, commands]) =>
    commands.some((each) => missing.has(each)) ? structure : [],
  );
  const failingKeys = [...new Set([...keys.values()].flat())];
  const texts = [
    ...(scripting.size > 0 ? [`without ${list([...scripting.keys()])}, calls of every structure fail`] : []),
    ...(missing.size > 0 ? [`without ${list([...missing.keys()])}, calls of ${list(failing)} fail`] : []),
    ...(keys.size > 0 ? [`keys ${list([...keys.keys()])} are forbidden, so calls of ${list(failingKeys)} fail`] : []),
    ...(optional.size > 0 ? [`without WAIT, calls of ${list(REPLICATED)} with the option replicas fail`] : []),
  ];
  const isNote = scripting.size + missing.size + keys.size === 0;
  const verdict = scripting.size > 0 ? "unusable" : isNote ? "note" : "degraded";
  const rules = [...rulesOf(refused.map(([, reply]) => reply)), ...[...keys.keys()].map((pattern) => `~${pattern}`)];
  const remedy = rules.length > 0 ? { rules } : { advice: "Use a server that has these commands." };
  return { name: "rights", verdict, text: texts.join("; "), ...remedy, facts };
}

/**
 * The patterns of keys which the user may not read or write, with the structures that need them. Nothing is written, since the
 * keys do not exist.
 */
async function refusedKeys(asker: Asker, prefix: string, tag: string): Promise<Map<string, readonly string[]>> {
  const refused = new Map<string, readonly string[]>();
  const structures = [PREFIXED, ["LockedWindow"]];
  for (const [i, key] of keysOf(prefix, tag).entries()) {
    const read = await asker.ask("EXISTS", key);
    const written = await asker.ask("SET", key, "0", "XX", "PX", String(KEY_LIFE_MS));
    const isRefused = [read, written].some((reply) => isMissing(reply) && /key/i.test(reply.message));
    if (isRefused) refused.set(patternOf(key).slice(1), structures[i]!);
  }
  return refused;
}
