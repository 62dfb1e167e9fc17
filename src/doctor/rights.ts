import { type Check, isMissing } from "./check.ts";
import { AFTER_KEY, COMMANDS_OF } from "./commands.ts";
import type { Asker } from "./connection.ts";

/** The beginnings of all keys that oriel writes, before the store's prefix. */
export const KEY_FAMILIES = ["", "mutex:", "fence:", "waiting:", "semaphore:"];
/** The beginning of the keys of a LockedWindow, which have no store's prefix. */
export const LOCKED_WINDOWS = "sw_counter_bytes:";
/** The beginnings of all channels. */
export const CHANNEL_FAMILIES = ["due:", "unlock:", "unlock:semaphore:"];

/** A key of each family. */
export function keysOf(prefix: string, tag: string): string[] {
  return [...KEY_FAMILIES.map((family) => `${family}${prefix}{${tag}}`), `${LOCKED_WINDOWS}{${tag}}`];
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
    return [command, key, key]; // COPY and RENAME onto itself
  };
  // No call fails without PUBLISH. Waiters then poll, which the check of messages reports.
  const all = new Set(
    Object.values(COMMANDS_OF)
      .flat()
      .filter((command) => command !== "PUBLISH"),
  );
  const missing = new Map<string, string>();
  const last = ["DEL"];
  for (const command of [...[...all].filter((each) => !last.includes(each)).sort(), ...last]) {
    const reply = await asker.ask(...words(command));
    if (isMissing(reply)) missing.set(command, reply.message);
  }
  const keys = await refusedKeys(asker, keysOf(prefix, tag));
  const facts = { commands: [...missing.keys()], keys };
  if (missing.size === 0 && keys.length === 0)
    return { name: "rights", verdict: "good", text: `the user may send all ${all.size} commands of the steps`, facts };
  const failing = Object.entries(COMMANDS_OF).flatMap(([structure, commands]) =>
    commands.some((each) => missing.has(each)) ? structure : [],
  );
  const texts = [
    ...(missing.size > 0 ? [`without ${list([...missing.keys()])}, calls of ${list(failing)} fail`] : []),
    ...(keys.length > 0 ? [`keys ${list(keys.map((family) => `${family}*`))} are forbidden`] : []),
  ];
  const advice = "Give the user the rules in the README (ACL SETUSER), or use a server that has these commands.";
  return { name: "rights", verdict: "degraded", text: texts.join("; "), advice, facts };
}

/** The families in which the user may not read or write. Nothing is written, since the keys do not exist. */
async function refusedKeys(asker: Asker, keys: readonly string[]): Promise<string[]> {
  const refused: string[] = [];
  for (const key of keys) {
    const read = await asker.ask("EXISTS", key);
    const written = await asker.ask("SET", key, "0", "XX", "PX", String(KEY_LIFE_MS));
    const isRefused = [read, written].some((reply) => isMissing(reply) && /key/i.test(reply.message));
    if (isRefused) refused.push(key.slice(0, key.indexOf("{")));
  }
  return refused;
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
