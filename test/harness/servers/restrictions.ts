import { readFileSync } from "node:fs";
import { slotOf } from "../../../src/store/keys.ts";

/** The refusals of a server, as its maker publishes them. */
export interface Restriction {
  /** Scripts may name only the keys that the call declares. */
  declaredKeys?: true;
  /** A script call may have keys of one slot only. */
  oneSlot?: true;
  /** A script call needs a key. */
  atLeastOneKey?: true;
  /** The largest number of words in one command, in scripts too. */
  maxWords?: number;
  /** Commands, in scripts too. */
  commands?: readonly string[];
  /** Commands after which the server closes the connection. */
  closesAfter?: readonly string[];
}

/** Without the commands for scripts and messages, as they are refused. */
export const RESTRICTIONS = {
  "only declared keys in scripts": { declaredKeys: true },
  "slots behind a plain client": { oneSlot: true },
  "a key for each script, 3 999 arguments": { atLeastOneKey: true, maxWords: 3999 },
  "no functions": { commands: ["FUNCTION", "FCALL", "FCALL_RO"] },
  "no messages": { commands: ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "SPUBLISH"] },
  "all of these": {
    declaredKeys: true,
    oneSlot: true,
    atLeastOneKey: true,
    maxWords: 3999,
    commands: ["FUNCTION", "FCALL", "SUBSCRIBE", "PUBLISH", "CONFIG", "WAIT", "KEYS"],
  },
} satisfies Record<string, Restriction>;

/** The server's error for a command, or undefined if it runs it. */
export function refusalOf(restriction: Restriction, words: readonly Buffer[]): string | undefined {
  const { commands = [], maxWords = Number.POSITIVE_INFINITY } = restriction;
  const name = words[0]!.toString().toUpperCase();
  if (commands.includes(name)) return `ERR unknown command '${name}', with args beginning with:`;
  if (words.length > maxWords) return "ERR max number of arguments exceeded";
  if (!["EVAL", "EVALSHA", "FCALL"].includes(name)) return undefined;
  const count = Number(words[2]);
  if (restriction.atLeastOneKey && count === 0) return "ERR scripts need at least one key";
  const slots = new Set(words.slice(3, 3 + count).map((key) => slotOf(key.toString())));
  if (restriction.oneSlot && slots.size > 1) return "CROSSSLOT Keys in request don't hash to the same slot";
  return undefined;
}

const prelude = readFileSync(new URL("./restricted.lua", import.meta.url), "latin1");

/** The script, whose commands meet the restriction as those of clients do. */
export function scriptUnder(restriction: Restriction, text: string): string {
  const { declaredKeys, commands = [], maxWords } = restriction;
  if (!declaredKeys && commands.length === 0 && maxWords === undefined) return text;
  const second = text.startsWith("#!") ? text.indexOf("\n") + 1 : 0;
  const own = prelude
    .replace("DECLARED_KEYS", String(declaredKeys === true))
    .replace("MAX_WORDS", String(maxWords ?? 1e9))
    .replace("REFUSED", commands.map((name) => `${name}=true`).join(","));
  return text.slice(0, second) + own + text.slice(second);
}
