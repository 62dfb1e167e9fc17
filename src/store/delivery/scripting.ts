import type { Script } from "../contract.ts";

/** How steps are loaded on the server: as cached scripts, or as functions, which it stores and replicates. */
export interface Scripting {
  readonly command: "EVALSHA" | "FCALL";
  /** The first argument of `command`. */
  nameOf(script: Script): string;
  /** The command that loads a script on one server. */
  loading(script: Script): string[];
  /** Called with the reply to that command. */
  onLoaded?(script: Script, reply: unknown): void;
}

/** Sends the text with the call. A full server loads no scripts, but runs a text whose flags allow it. */
export const wholeScripts: Pick<Scripting, "nameOf"> & { command: "EVAL" } = {
  command: "EVAL",
  nameOf: ({ text }) => text,
};

/** The server's answers if it does not have a step, or no longer has it. */
export const NOT_LOADED = /^(NOSCRIPT\b|ERR Function not found)|flag.*: allow-key-locking/;
/** The answer of a server that does not know Upstash's flag. The step is then sent in another form. */
export const FLAG_REFUSED = /flag.*: allow-key-locking/;

/** This line separates a step's definitions from the code of each call. scripts/lua/compose-script.mjs writes it. */
const EACH_CALL = "\n-- each call\n";

export const scripts: Scripting = {
  command: "EVALSHA",
  nameOf: ({ sha }) => sha,
  loading: ({ text }) => ["SCRIPT", "LOAD", text],
};

/** Scripts without their first line. The server returns their SHA-1. Until then it finds no script, and the call is repeated. */
export function withoutFirstLine(): Scripting {
  const shas = new Map<string, string>();
  return {
    command: "EVALSHA",
    nameOf: ({ sha }) => shas.get(sha) ?? sha,
    loading: ({ text }) => ["SCRIPT", "LOAD", text.slice(text.indexOf("\n"))],
    onLoaded: ({ sha }, reply) => void shas.set(sha, String(reply)),
  };
}

/**
 * One library with one function for each step, named by the SHA-1 of its text. So processes with different versions do
 * not replace each other's functions.
 */
export const functions: Scripting = {
  command: "FCALL",
  nameOf,
  loading: (script) => ["FUNCTION", "LOAD", "REPLACE", functionOf(script)],
};

function nameOf({ sha }: Script): string {
  return `oriel_${sha}`;
}

/** The script as a function. Its definitions run once, when the library is loaded, and not at each call. */
function functionOf(script: Script): string {
  const name = nameOf(script);
  const [first = "", ...lines] = script.text.split("\n");
  const [definitions, eachCall] = lines.join("\n").split(EACH_CALL);
  const flags = first.endsWith(" flags=allow-oom") ? "'allow-oom'" : "";
  return `#!lua name=${name}
local KEYS, ARGV
${definitions}
local function each_call()
${eachCall}end
redis.register_function{ function_name = '${name}', flags = { ${flags} }, callback = function(keys, args)
  KEYS, ARGV = keys, args
  local replies = each_call()
  KEYS, ARGV = nil, nil
  return replies
end }
`;
}
