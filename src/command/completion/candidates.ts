import type { Argument, Command, Option } from "commander";
import { STRUCTURE_KINDS } from "../../store/registry/live.ts";

/** A word that may stand at the end of the command line. */
export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** Words, paths of files, or names of structures that are of one of these kinds (any kind, if there are none). */
export type Candidates =
  | { readonly words: readonly Candidate[] }
  | { readonly isPath: true }
  | { readonly names: readonly string[]; readonly command: Command; readonly typed: ReadonlyMap<string, string> };

/** The kinds whose names a command takes. The others take any kind. */
const KINDS_OF: Record<string, readonly string[]> = {
  lock: ["Lock"],
  limit: ["Limiter"],
  breaker: ["Breaker"],
  queue: ["DelayQueue"],
  counters: ["Counters"],
};

const NOTHING = { words: [] };

/** What may follow: `words` are those after the program's name, and the last one is not complete. */
export function candidatesOf(program: Command, words: readonly string[]): Candidates {
  const [first = "", ...rest] = words;
  const commands = program.commands.map((each) => ({ word: each.name(), about: firstSentence(each.description()) }));
  if (rest.length === 0)
    return first.startsWith("-")
      ? begunWith(first, optionsOf(program))
      : begunWith(first, [...commands, { word: "help", about: "Print the help of a command." }]);
  if (first === "help") return rest.length === 1 ? begunWith(rest[0]!, commands) : NOTHING;
  const command = program.commands.find((each) => each.name() === first);
  return command ? afterCommand(command, rest) : NOTHING;
}

function afterCommand(command: Command, words: readonly string[]): Candidates {
  const last = words.at(-1)!;
  const typed = new Map<string, string>();
  const values: string[] = [];
  let open: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (open) {
      typed.set(open.attributeName(), word);
      open = undefined;
    } else if (word.startsWith("-")) {
      open = command.options.find((option) => named(option, word));
      if (open && !open.required) {
        typed.set(open.attributeName(), "");
        open = undefined;
      }
    } else values.push(word);
  }
  if (open) return ofOption(open, last);
  if (last.startsWith("-"))
    return begunWith(
      last,
      optionsOf(command).filter(
        ({ word }) => !command.options.some((each) => named(each, word) && typed.has(each.attributeName())),
      ),
    );
  const argument = command.registeredArguments[values.length];
  return argument ? ofArgument(argument, last, command, typed) : NOTHING;
}

function ofOption({ argChoices, flags, long }: Option, last: string): Candidates {
  if (argChoices) return begunWith(last, plain(argChoices));
  if (long === "--kind") return begunWith(last, plain(STRUCTURE_KINDS));
  return /<(file|folder)>/.test(flags) ? { isPath: true } : NOTHING;
}

function ofArgument(
  argument: Argument,
  last: string,
  command: Command,
  typed: ReadonlyMap<string, string>,
): Candidates {
  if (argument.argChoices) return begunWith(last, plain(argument.argChoices));
  if (argument.name() === "file") return { isPath: true };
  if (argument.name() === "command") return NOTHING;
  const isName = ["name", "pattern"].includes(argument.name());
  return isName ? { names: KINDS_OF[command.name()] ?? [], command, typed } : NOTHING;
}

function optionsOf(command: Command): Candidate[] {
  const own = command.options.map(({ long, description }) => ({ word: long ?? "", about: firstSentence(description) }));
  return [...own, { word: "--help", about: "print the help" }];
}

function plain(words: readonly string[]): Candidate[] {
  return words.map((word) => ({ word, about: "" }));
}

export function begunWith(begin: string, words: readonly Candidate[]): { words: readonly Candidate[] } {
  return { words: words.filter(({ word }) => word !== "" && word.startsWith(begin)) };
}

function firstSentence(text: string): string {
  return text.replace(/[.;] .*|\.$/s, "");
}

function named({ long, short }: Option, word: string): boolean {
  return word === long || word === short;
}
