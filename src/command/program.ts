import { Command, CommanderError } from "commander";
import { version } from "../generated/version.ts";
import { addConfigOption, applyConfig } from "./config/options.ts";
import { breakerCommand } from "./definitions/breaker.ts";
import { completionCommand } from "./definitions/completion.ts";
import { countCommand } from "./definitions/count.ts";
import { countersCommand } from "./definitions/counters.ts";
import { dashboardCommand } from "./definitions/dashboard.ts";
import { demoCommand } from "./definitions/demo.ts";
import { doctorCommand } from "./definitions/doctor.ts";
import { limitCommand } from "./definitions/limit.ts";
import { lockCommand } from "./definitions/lock.ts";
import { lsCommand } from "./definitions/ls.ts";
import { queueCommand } from "./definitions/queue.ts";
import { replayCommand } from "./definitions/replay.ts";
import { statsCommand } from "./definitions/stats.ts";
import { topCommand } from "./definitions/top.ts";
import { watchCommand } from "./definitions/watch.ts";
import { HELP_STYLE, helpJson, helpText } from "./help.ts";
import { allowClosedReader, hasColors, type Streams, widthOf } from "./output.ts";
import { failureJson, failureLines } from "./text/failure.ts";
import { jsonLine, oneLine } from "./text/safe-text.ts";

/** Exit status for wrong usage, an unreadable file, or a store that does not answer. */
const FAILED = 2;

/** In a narrower terminal the help would have one word a line. */
const MIN_COLUMNS = 40;
const DEFINITIONS = [
  replayCommand,
  demoCommand,
  countCommand,
  countersCommand,
  queueCommand,
  lockCommand,
  limitCommand,
  breakerCommand,
  lsCommand,
  statsCommand,
  watchCommand,
  topCommand,
  dashboardCommand,
  doctorCommand,
  completionCommand,
];

const HELP_END = `
Exit status: 0 done; 1 done, with a loss or a refusal that
the command names; 2 wrong usage, an unreadable file, or a
server that fails. The help of a command says more.

With --json an error is one line on stderr, an object with
code, message and help. NO_COLOR forbids colours,
FORCE_COLOR asks for them. ORIEL_DEBUG=1 prints where an
error arose.

Examples:
  oriel ls --redis redis://127.0.0.1:6379
  oriel help stats
  oriel help --json
`;

const VERSION_HELP = `
Exit status: 0 printed.

Examples:
  oriel version
  oriel version --json
`;

/** All commands, with their arguments and help. `end` takes the exit status of the command that runs. */
export function makeProgram(streams: Streams, end: (status: number) => void): Command {
  const program = new Command("oriel")
    .description("Exact sliding-window statistics of events, in this process or shared through Redis.")
    .version(version, "-V, --version", "print the version")
    .addHelpText("after", HELP_END);
  for (const make of DEFINITIONS) {
    const command = make(streams, end);
    addConfigOption(command);
    program.addCommand(command);
  }
  program
    .command("version")
    .description("Print the version.")
    .option("--json", "print one JSON object")
    .addHelpText("after", VERSION_HELP)
    .action(({ json }: { json?: boolean }) => {
      streams.stdout.write(json ? jsonLine({ version }) : `${version}\n`);
    });
  program.hook("preAction", (_program, command) => applyConfig(command));
  for (const command of [program, ...program.commands]) {
    const helpWidth = () => Math.max(MIN_COLUMNS, widthOf(streams.stdout) ?? 80);
    command
      .exitOverride()
      .helpCommand(false)
      .configureHelp(HELP_STYLE)
      .configureOutput({
        getOutHelpWidth: helpWidth,
        getOutHasColors: () => hasColors(streams.stdout),
        // The text below the options begins with a line break. commander wraps the rest.
        writeOut: (text) => streams.stdout.write(text.startsWith("\n") ? helpText(text, helpWidth()) : text),
        writeErr: (text) => streams.stderr.write(text),
        outputError: () => {}, // `runCommand` prints the error
      });
  }
  return program.helpCommand("help [command]", "Print the help of a command.");
}

/**
 * Runs one command line (without the program's name). Resolves to the exit status. An error is printed on stderr
 * on one line, followed by the page of its code.
 */
export async function runCommand(argv: readonly string[], streams: Streams): Promise<number> {
  allowClosedReader(streams.stdout);
  allowClosedReader(streams.stderr);
  let status = 0;
  const program = makeProgram(streams, (code) => {
    status = code;
  });
  const names = [...program.commands.map((command) => command.name()), "help"];
  const [first, second] = argv;
  // commander would print the help of the program.
  const isUnknown = first === "help" && second !== undefined && second !== "--json" && !names.includes(second);
  const isJson = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined).includes("--json");
  if (first === "help" && isJson && !isUnknown) {
    const named = program.commands.find((command) => command.name() === second);
    streams.stdout.write(
      jsonLine(named ? helpJson(named) : { ...helpJson(program), commands: program.commands.map(helpJson) }),
    );
    return 0;
  }
  try {
    await program.parseAsync(isUnknown ? argv.slice(1) : argv, { from: "user" });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      streams.stderr.write(failureLines(error, isJson));
      return FAILED;
    }
    if (error.exitCode === 0) return 0;
    if (error.code === "commander.help") return FAILED; // it was printed
    const message = oneLine(error.message.replace(/^error: /, "")) + advice(error.message, names, argv);
    streams.stderr.write(isJson ? failureJson({ code: "ARGUMENT", message }) : `oriel: ${message}\n`);
    return FAILED;
  }
}

/** Advice that is added to an error of commander's. */
function advice(text: string, names: readonly string[], argv: readonly string[]): string {
  if (text.includes("too many arguments") && argv.some((word) => /^rediss?:\/\//.test(word)))
    return "; write --redis before the URL of a server";
  return text.includes("unknown command") ? `; the commands are ${names.join(", ")}` : "";
}
