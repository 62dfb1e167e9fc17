import { createHash } from "node:crypto";
import { scriptUnder } from "./restrictions.ts";

const FLAG = "allow-key-locking";
const FIRST_LINE = /^#!lua flags=(\S+)\n/;

/**
 * How Upstash runs scripts, by its documentation: the flag `allow-key-locking` in the first line locks the keys of the call,
 * and the script then may use no others. Without the flag, and in a transaction, a script locks the whole database.
 */
export class KeyLocking {
  /** Scripts that ran so far, by what they locked. */
  readonly locked = { keys: 0, all: 0 };
  /** SHA-1 of the text that the real server runs, by that of a text with the flag. */
  readonly #shas = new Map<string, string>();

  /** The command for a real server, which does not know the flag, and what to do when it has answered. */
  through(words: string[], isTransaction: boolean): { words: string[]; answered(isScriptKnown: boolean): void } {
    const sent = this.#commandOf(words);
    const isKeys = !isTransaction && sent !== words;
    const isScript = /^eval(sha)?$/i.test(words[0]!);
    return {
      words: sent,
      answered: (isScriptKnown) => {
        if (isScript && isScriptKnown) this.locked[isKeys ? "keys" : "all"]++;
      },
    };
  }

  /** The same command if it is no script with the flag. */
  #commandOf(words: string[]): string[] {
    const name = words[0]!.toUpperCase();
    if (name === "SCRIPT" && words[1]!.toUpperCase() === "FLUSH") this.#shas.clear();
    if (name !== "EVAL" && name !== "EVALSHA") return words;
    const given = words[1]!;
    const text = name === "EVAL" ? withoutFlag(given) : undefined;
    if (text !== undefined) this.#shas.set(sha1(given), sha1(text));
    const sha = this.#shas.get(given.toLowerCase());
    const under = text ?? sha;
    return under === undefined ? words : [name, under, ...words.slice(2)];
  }
}

/** The text for a real server, or undefined if it does not have the flag. */
function withoutFlag(text: string): string | undefined {
  const flags = FIRST_LINE.exec(text)?.[1]?.split(",") ?? [];
  if (!flags.includes(FLAG)) return undefined;
  const others = flags.filter((flag) => flag !== FLAG);
  const first = others.length > 0 ? `#!lua flags=${others.join(",")}\n` : "#!lua\n";
  return scriptUnder({ declaredKeys: true }, text.replace(FIRST_LINE, first));
}

function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}
