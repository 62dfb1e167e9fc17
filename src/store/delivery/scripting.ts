import type { Script } from "../contract.ts";

/** How the steps get into the server: as cached scripts, or as a library of functions that it keeps and replicates. */
export interface Scripting {
  readonly command: "EVALSHA" | "FCALL";
  /** The first argument of `command`. */
  nameOf(script: Script): string;
  /** The command that brings a step to one server. */
  loading(script: Script): string[];
}

/** A script with its text, which a full server runs where it takes no library: where the text itself allows it. */
export const wholeScripts: Pick<Scripting, "nameOf"> & { command: "EVAL" } = {
  command: "EVAL",
  nameOf: ({ text }) => text,
};

/** The server's answers if it does not have a step, or no longer has it. */
export const NOT_LOADED = /^(NOSCRIPT\b|ERR Function not found)/;

/**
 * The line that stands between what a step defines and what each call runs; scripts/lua/compose-script.mjs writes it.
 */
const EACH_CALL = "\n-- each call\n";

export const scripts: Scripting = {
  command: "EVALSHA",
  nameOf: ({ sha }) => sha,
  loading: ({ text }) => ["SCRIPT", "LOAD", text],
};

/** One library of one function per step, named after its text: processes of two versions do not disturb each other. */
export const functions: Scripting = {
  command: "FCALL",
  nameOf,
  loading: (script) => ["FUNCTION", "LOAD", "REPLACE", functionOf(script)],
};

function nameOf({ sha }: Script): string {
  return `oriel_${sha}`;
}

/**
 * The same text as a function: what a step defines is made once, when the library is loaded, instead of at every call.
 */
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
