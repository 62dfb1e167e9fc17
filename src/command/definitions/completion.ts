import { Argument, Command } from "commander";
import { completion } from "../completion/completion.ts";
import type { Streams } from "../output.ts";

const HELP = `
The completions are commands, options, their values, files, and the names of structures, if REDIS_URL, --redis or a configuration
file names the server. Names that would need quotes are left out.

Exit status: 0 printed, 2 wrong usage.

Examples:
  oriel completion bash >> ~/.bashrc
  oriel completion zsh > "\${fpath[1]}/_oriel"
  oriel completion fish > ~/.config/fish/completions/oriel.fish
  eval "$(oriel completion bash)"                            # this shell only
`;

export function completionCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("completion")
    .description("Print the script that completes commands in bash, zsh or fish.")
    .addArgument(
      new Argument("<what>", "the shell; words lists the completions of a line, for the scripts").choices([
        "bash",
        "zsh",
        "fish",
        "words",
      ]),
    )
    .argument("[words...]", "with words, after --: the words of the line after the program's name")
    .option("--json", "print one JSON object: the shell and its script, or the completions")
    .addHelpText("after", HELP)
    .action(async (what: string, words: string[], typed: { json?: boolean }, command: Command) =>
      end(await completion(what, words, command.parent!, streams, typed.json ?? false)),
    );
}
