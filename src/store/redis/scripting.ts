import { argumentError } from "../../base/errors.ts";
import type { Script } from "../contract.ts";
import { ServerError } from "../delivery/client.ts";

/** Which scripting an option names. Throws ARGUMENT for functions where no SHA-1 can be computed, by which they are named. */
export function scriptingOf(name: "eval" | "functions"): Scripting {
  if (name === "eval") return scripts;
  if (!nodeCrypto()) throw argumentError("scripting", name, '"eval" before Node 20.16');
  return functions;
}

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

/** This line separates a step's definitions from the code of each call. scripts/lua/compose-script.mjs writes it. */
const EACH_CALL = "\n-- each call\n";

export const scripts: Scripting = {
  command: "EVALSHA",
  nameOf: shaOf,
  loading: ({ text }) => ["SCRIPT", "LOAD", text],
  // Another server may answer with another name, so the reply counts only if no SHA-1 could be computed.
  onLoaded: (script, reply) => {
    if (!shas.has(script)) shas.set(script, String(reply));
  },
};

const shas = new WeakMap<Script, string>();

interface Builtins {
  getBuiltinModule?(name: string): {
    createHash(name: "sha1"): { update(text: string): { digest(form: "hex"): string } };
  };
}

/** Not imported, because bundles for the edge and browsers share this module. Undefined in Node before 20.16. */
const nodeCrypto = () => (globalThis as { process?: Builtins }).process?.getBuiltinModule?.("node:crypto");

/** Empty if it cannot be computed. Then the server, which returns it, finds no script at first, and the call is repeated. */
function shaOf(script: Script): string {
  let sha = shas.get(script);
  if (sha === undefined) {
    sha = nodeCrypto()?.createHash("sha1").update(script.text).digest("hex") ?? "";
    if (sha) shas.set(script, sha);
  }
  return sha;
}

/** Scripts without their first line. The server returns their SHA-1. Until then it finds no script, and the call is repeated. */
function withoutFirstLine(): Scripting {
  const loaded = new Map<Script, string>();
  return {
    command: "EVALSHA",
    nameOf: (script) => loaded.get(script) ?? shaOf(script),
    loading: ({ text }) => ["SCRIPT", "LOAD", text.slice(text.indexOf("\n"))],
    onLoaded: (script, reply) => void loaded.set(script, String(reply)),
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

function nameOf(script: Script): string {
  return `oriel_${shaOf(script)}`;
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

/**
 * The refusal of a first line #!lua by Dragonfly, which wraps each script in a function. Redis 6 refuses it in line 1. It
 * lacks commands of the steps.
 */
export const FIRST_LINE_REFUSED = /:2: unexpected symbol near '#'/;

/** How a store's scripts are loaded, and for each script that the server refused to load the error of the last attempt. */
export class Loads {
  readonly #refusals = new Map<Script, ServerError>();
  #scripting: Scripting;
  #hasFirstLine = true;

  constructor(scripting: Scripting) {
    this.#scripting = scripting;
  }

  get scripting(): Scripting {
    return this.#scripting;
  }

  /** Sends the command that loads a script. `failed` is called if it is not loaded. */
  load(
    script: Script,
    send: (words: string[]) => Promise<unknown>,
    isRefusal: (error: Error) => boolean,
    failed: () => void,
  ): void {
    const scripting = this.#scripting;
    this.#refusals.delete(script);
    send(scripting.loading(script)).then(
      (reply) => scripting.onLoaded?.(script, reply),
      (error: Error) => {
        failed();
        if (isRefusal(error)) this.#refusals.set(script, new ServerError(error.message));
      },
    );
  }

  /** Why the server did not load a script, unless it may load it in another form. The next attempt uses that form. */
  refusalOf(script: Script): ServerError | undefined {
    const refusal = this.#refusals.get(script);
    if (!refusal || !FIRST_LINE_REFUSED.test(refusal.message)) return refusal;
    if (this.#hasFirstLine) this.#scripting = withoutFirstLine();
    this.#hasFirstLine = false;
    return undefined;
  }
}
