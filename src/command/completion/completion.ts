import type { Command } from "commander";
import type { WatchedStore } from "../../entries/index.ts";
import { readRegistry } from "../../store/registry/read-registry.ts";
import { openStore } from "../config/open-store.ts";
import { applyConfig } from "../config/options.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import { Output, type Streams } from "../output.ts";
import { jsonLine, oneLine } from "../text/safe-text.ts";
import { begunWith, type Candidate, type Candidates, candidatesOf } from "./candidates.ts";
import { SCRIPTS } from "./scripts.ts";

/** Names with other characters would need quotes, which differ between shells. */
const PLAIN_NAME = /^[\w.:@/+-]+$/;
const MAX_NAMES = 500;

/** Prints the script of a shell, or the words that may end a command line. Resolves to 0. */
export async function completion(
  what: string,
  words: readonly string[],
  program: Command,
  streams: Streams,
  isJson: boolean,
) {
  const output = new Output(streams.stdout);
  const script = SCRIPTS[what];
  if (script !== undefined) {
    await output.write(isJson ? jsonLine({ shell: what, script }) : script);
    return 0;
  }
  const candidates = await listed(candidatesOf(program, words), words.at(-1) ?? "");
  await output.write(isJson ? jsonLine(candidates) : linesOf(candidates));
  return 0;
}

function linesOf(candidates: Candidates): string {
  if ("isPath" in candidates) return ":files\n";
  if (!("words" in candidates)) return "";
  return candidates.words.map(({ word, about }) => `${word}\t${oneLine(about)}\n`).join("");
}

/** Names of structures as words. An unknown server, or one that does not answer, has none. */
async function listed(candidates: Candidates, last: string): Promise<Candidates> {
  if (!("names" in candidates)) return candidates;
  const { command, typed, names: kinds } = candidates;
  let store: WatchedStore | undefined;
  try {
    store = openStore({ ...serverOf(command, typed) }, { deadline: "1s", onWarning: () => {} });
    const { structures } = await readRegistry(store);
    const isListed = kinds.length === 0 ? () => true : (kind: string) => kinds.includes(kind);
    const words: Candidate[] = structures
      .filter(({ kind, name }) => isListed(kind) && PLAIN_NAME.test(name))
      .map(({ kind, name }) => ({ word: name, about: kind }));
    const { words: begun } = begunWith(last, words);
    return { words: begun.slice(0, MAX_NAMES) };
  } catch {
    return { words: [] };
  } finally {
    await store?.close();
  }
}

/** The server of the line that is typed, of the environment, or of the configuration file. Throws without one. */
function serverOf(command: Command, typed: ReadonlyMap<string, string>): ServerTyped {
  const { REDIS_URL } = process.env;
  if (REDIS_URL !== undefined) command.setOptionValueWithSource("redis", REDIS_URL, "env");
  for (const name of ["redis", "prefix", "config"])
    if (typed.has(name)) command.setOptionValueWithSource(name, typed.get(name), "cli");
  applyConfig(command);
  return command.opts<ServerTyped>();
}
