import { Argument, Command, CommanderError, Option } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { type CountTyped, count } from "./count.ts";
import { type CountersTyped, counters } from "./counters.ts";
import { type DemoTyped, demo, demoOptions } from "./demo/demo.ts";
import { failureText, oneLine } from "./failure.ts";
import { type QueueTyped, queue } from "./queue.ts";
import { REPLAY_HELP } from "./replay/help.ts";
import { replayOptions, type TypedOptions } from "./replay/options.ts";
import { replay } from "./replay/replay.ts";
import type { Streams } from "./streams.ts";

/** Exit status for wrong usage, an unreadable file, or a store that does not answer. */
const FAILED = 2;

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
  const commands = [replayCommand, demoCommand, countCommand, countersCommand, queueCommand].map((make) =>
    make(streams, end),
  );
  for (const command of commands) program.addCommand(command);
  for (const command of [program, ...commands]) {
    command
      .exitOverride()
      .helpCommand(false)
      .configureOutput({
        writeOut: (text) => streams.stdout.write(text),
        writeErr: (text) => streams.stderr.write(text),
        outputError: (text, write) => write(`oriel: ${oneLine(text.replace(/^error: /, ""))}\n`),
      });
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : FAILED; // commander has told it
    streams.stderr.write(failureText(error));
    return FAILED;
  }
}

function replayCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("replay")
    .description("Statistics of a CSV, NDJSON or access log file, window by window, as its event time advances.")
    .argument("<file>", "the file, or - for standard input")
    .addOption(
      new Option("--format <format>", "what the file is; recognised from its first lines by default").choices([
        "csv",
        "ndjson",
        "log",
      ]),
    )
    .option("--time <part>", "the time: CSV column (name or number from 1), JSON field path")
    .option("--value <part>", "the value: column, field path; in a log: bytes (default) or status")
    .option(
      "--key <part>",
      "one series per key: column, field path; in a log: status, status-class, path, method, host",
    )
    .option("--span <duration>", "length of a window", "5m")
    .option("--every <duration>", "a window ends at each multiple of this (default: the span)")
    .option("--percentiles <list>", "percentiles, 0 to 100", "50,90,99")
    .option("--method <name>", "how percentiles lie between events: one of NumPy's 13 methods", "linear")
    .addOption(
      new Option("--closed <ends>", "right: from < t <= end; both: from <= t <= end")
        .choices(["right", "both"])
        .default("right"),
    )
    .addOption(new Option("--values <type>", "how values are kept").choices(["float32", "float64"]).default("float64"))
    .option("--lateness <duration>", "how long, in event time, a window waits for stragglers", "0")
    .option("--retention <duration>", "how long the series keep events (default: span + every + lateness)")
    .option("--empty", "print windows without events too")
    .option("--json", "one JSON object a line instead of a table")
    .option("--plot <file.svg>", "draw the mean and the percentiles over time")
    .option("--unit <unit>", "unit of the values, for the picture")
    .option("--redis <url>", "keep the series in Redis, where other processes record into them and read them")
    .option("--prefix <prefix>", "beginning of the keys in Redis")
    .option("--name <name>", "name of the series (default: the file's); with --key it is followed by : and the key")
    .addHelpText("after", REPLAY_HELP)
    .action(async (file: string, typed: TypedOptions) => end(await replay(replayOptions(file, typed), streams)));
}

function demoCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("demo")
    .description(
      "A real HTTP server on loopback under real traffic: its latencies, live, and a check that all were counted.",
    )
    .option("--seconds <n>", "how long", "10")
    .option("--rate <n>", "requests per second to aim at", "400")
    .option("--port <port>", "port of the server (default: a free one)", "0")
    .option(
      "--redis <url>",
      "record into Redis: demos in several terminals then share one series, and each shows all of it",
    )
    .option("--prefix <prefix>", "beginning of the keys in Redis")
    .action(async (typed: DemoTyped) => end(await demo(demoOptions(typed), streams)));
}

function countCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("count")
    .description("Counts the entries of a Redis stream, each once, shared by all processes that run this command.")
    .requiredOption("--redis <url>", "where the stream is, and the counters; nodes of a cluster with commas between")
    .requiredOption("--stream <key>", "the stream; its entries have a field for each dimension")
    .requiredOption("--group <group>", "the consumer group that shares the work; made where it is missing")
    .requiredOption("--dimensions <list>", "names with commas between: site,lane,direction")
    .option("--added-dimensions <list>", 'names that the counter got later; an entry without such a field has ""')
    .option("--name <name>", "name of the counter (default: the stream's)")
    .option("--count <field>", "field that says how many (default: 1 each)")
    .option("--at <field>", "field that says when, ms since 1970 (default: the time in the entry's id)")
    .option("--shards <n>", "parts of the counter; all who use it must agree", "64")
    .option(
      "--replicas <n>",
      "replicas that must have an entry before it is counted, and its count before it is acknowledged",
      "0",
    )
    .option("--prefix <prefix>", "beginning of the keys in Redis")
    .option("--once", "end when all entries are counted")
    .action(async (typed: CountTyped) => end(await count(typed, streams)));
}

function countersCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("counters")
    .description(
      "Shows how the shards of a counter and their table stand to each other, and repairs them (docs/runbook/).",
    )
    .addArgument(new Argument("<what>", "doctor shows, rebase repairs").choices(["doctor", "rebase"]))
    .argument("<name>", "name of the counter")
    .requiredOption("--redis <url>", "where the counter is; nodes of a cluster with commas between")
    .requiredOption(
      "--sql <url>",
      "the database: postgres://…, mysql://…, mariadb://… or sqlite:<file>; it is only read",
    )
    .requiredOption("--dimensions <list>", "names with commas between: site,lane,direction")
    .option("--added-dimensions <list>", "names that the counter got later (docs/runbook/add-a-dimension.md)")
    .option("--buckets <list>", "names with commas between", "minute,hour,day")
    .option("--time-zone <name>", "in which hours and days begin", "UTC")
    .option("--shards <n>", "parts of the counter", "64")
    .option("--table <name>", "table of the counts (default: the counter's name and _counts)")
    .option("--ledger-table <name>", "table of the ledger (default: oriel_ledger)")
    .option("--drivers <folder>", "whose node_modules have the database's driver", ".")
    .option("--in-doubt <what>", "drop or keep events that the table may have, where Redis was set back")
    .option("--accept-missing", "give up what the table lacks, where it was set back")
    .option("--set-aside", "rename keys that cannot be read or have another layout, and begin anew")
    .option("--mend-sums", "count what the rows say, where they do not add up")
    .option("--yes", "repair; without it, rebase only shows")
    .option("--json", "JSON, a shard a line")
    .option("--prefix <prefix>", "beginning of the keys in Redis")
    .action(async (what: string, name: string, typed: CountersTyped) =>
      end(await counters(what, name, typed, streams)),
    );
}

function queueCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("queue")
    .description("Tells of a delay queue, and has its dead messages wait again.")
    .addArgument(
      new Argument("<what>", "its counts; what is due next; what is dead; or have that wait again").choices([
        "counts",
        "peek",
        "dead",
        "redrive",
      ]),
    )
    .argument("<name>", "name of the queue")
    .requiredOption("--redis <url>", "where the queue is; nodes of a cluster with commas between")
    .option("--shards <n>", "parts of the queue; all who use it must agree", "1")
    .option("--limit <n>", "how many messages to list: dead up to 1000, peek up to 256", "10")
    .option("--ids <list>", "redrive these, with commas between, instead of all")
    .option("--json", "JSON, a message a line")
    .option("--prefix <prefix>", "beginning of the keys in Redis")
    .action(async (what: string, name: string, typed: QueueTyped) => end(await queue(what, name, typed, streams)));
}
