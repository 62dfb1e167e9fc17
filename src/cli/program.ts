import { Command, CommanderError, type HelpConfiguration } from "commander";
import pc from "picocolors";
import manifest from "../../package.json" with { type: "json" };
import { countCommand } from "./definitions/count.ts";
import { countersCommand } from "./definitions/counters.ts";
import { demoCommand } from "./definitions/demo.ts";
import { doctorCommand } from "./definitions/doctor.ts";
import { lockCommand } from "./definitions/lock.ts";
import { queueCommand } from "./definitions/queue.ts";
import { replayCommand } from "./definitions/replay.ts";
import { failureText, oneLine } from "./failure.ts";
import type { Streams } from "./streams.ts";
import { hasColors, widthOf } from "./terminal.ts";

/** Exit status for wrong usage, an unreadable file, or a store that does not answer. */
const FAILED = 2;

/** In a narrower terminal the help would have one word a line. */
const MIN_COLUMNS = 40;
// commander removes the colours where `getOutHasColors` says so.
const { bold, cyan } = pc.createColors(true);

/** Names alone, and descriptions of 10 columns at least, fit into a narrow terminal. */
const HELP: HelpConfiguration = {
  minWidthToWrap: 10,
  subcommandTerm: (command) => command.name(),
  styleTitle: bold,
  styleCommandText: bold,
  styleOptionTerm: cyan,
  styleSubcommandTerm: cyan,
};

const DEFINITIONS = [
  replayCommand,
  demoCommand,
  countCommand,
  countersCommand,
  queueCommand,
  lockCommand,
  doctorCommand,
];

/**
 * Runs one command line (without the program's name). Resolves to the exit status. Errors are printed on stderr, one
 * line each.
 */
export async function runCommand(argv: readonly string[], streams: Streams): Promise<number> {
  let status = 0;
  const program = new Command("oriel")
    .description("Exact sliding-window statistics of events, in this process or shared through Redis.")
    .version(manifest.version, "-V, --version", "print the version");
  const end = (code: number) => {
    status = code;
  };
  const commands = DEFINITIONS.map((make) => make(streams, end));
  const names = [...commands.map((command) => command.name()), "help", "version"];
  for (const command of commands) program.addCommand(command);
  program
    .command("version")
    .description("Print the version.")
    .action(() => {
      streams.stdout.write(`${manifest.version}\n`);
    });
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .helpCommand(false)
      .configureHelp(HELP)
      .configureOutput({
        getOutHelpWidth: () => Math.max(MIN_COLUMNS, widthOf(streams.stdout) ?? 80),
        getOutHasColors: () => hasColors(streams.stdout),
        writeOut: (text) => streams.stdout.write(text),
        writeErr: (text) => streams.stderr.write(text),
        outputError: (text, write) => write(`oriel: ${oneLine(text.replace(/^error: /, ""))}${advice(text, names)}\n`),
      });
  }
  program.helpCommand("help [command]", "Print the help of a command.");
  try {
    await program.parseAsync(argv, { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : FAILED; // commander has printed it
    streams.stderr.write(failureText(error));
    return FAILED;
  }
}

/** Advice that is added to an error of commander's. */
function advice(text: string, names: readonly string[]): string {
  if (text.includes("unknown command")) return `; the commands are ${names.join(", ")}`;
  return text.includes("'--redis <url>' not specified") ? "; REDIS_URL of the environment can replace it" : "";
}
