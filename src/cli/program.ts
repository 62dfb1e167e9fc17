import { Argument, Command, CommanderError, Option } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { type CountTyped, count } from "./count.ts";
import { type CountersTyped, counters } from "./counters.ts";
import { type DemoTyped, demo, demoOptions } from "./demo/demo.ts";
import { type DoctorTyped, doctor } from "./doctor.ts";
import { failureText, oneLine } from "./failure.ts";
import { type QueueTyped, queue } from "./queue.ts";
import { REPLAY_HELP } from "./replay/help.ts";
import { replayOptions, type TypedOptions } from "./replay/options.ts";
import { replay } from "./replay/replay.ts";
import type { Streams } from "./streams.ts";

/** Exit status for wrong usage, an unreadable file, or a store that does not answer. */
const FAILED = 2;

const DOCTOR_HELP = `
Exit status: 0 good, 1 degraded (oriel works, with a loss that a line names), 2 unusable.

Examples:
  oriel doctor --redis redis://127.0.0.1:6379
  REDIS_URL=rediss://app:password@host:6379 oriel doctor     # no password in the list of processes
  oriel doctor --redis rediss://host:6379 --tls-ca ca.pem    # a server with an authority of its own
  oriel doctor --redis redis://a:6379,redis://b:6379 --json  # a cluster
`;

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
  const commands = [replayCommand, demoCommand, countCommand, countersCommand, queueCommand, doctorCommand].map(
    (make) => make(streams, end),
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
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : FAILED; // commander has printed it
    streams.stderr.write(failureText(error));
    return FAILED;
  }
}

function replayCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("replay")
    .description("Statistics of a CSV, NDJSON or access log file, window by window, as its event time advances.")
    .argument("<file>", "the file, or - for standard input")
    .addOption(
      new Option("--format <format>", "format of the file (default: recognised from its first lines)").choices([
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
    .option("--method <name>", "interpolation of percentiles: one of NumPy's 13 methods", "linear")
    .addOption(
      new Option("--closed <ends>", "right: from < t <= end; both: from <= t <= end")
        .choices(["right", "both"])
        .default("right"),
    )
    .addOption(
      new Option("--values <type>", "type of the stored values").choices(["float32", "float64"]).default("float64"),
    )
    .option("--lateness <duration>", "how long, in event time, a window waits for late events", "0")
    .option("--retention <duration>", "how long the series keep events (default: span + every + lateness)")
    .option("--empty", "print windows without events too")
    .option("--json", "one JSON object a line instead of a table")
    .option("--plot <file.svg>", "draw the mean and the percentiles over time")
    .option("--unit <unit>", "unit of the values, for the picture")
    .option("--redis <url>", "keep the series in Redis, shared with other processes")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .option("--name <name>", "name of the series (default: the file's); with --key followed by : and the key")
    .addHelpText("after", REPLAY_HELP)
    .action(async (file: string, typed: TypedOptions) => end(await replay(replayOptions(file, typed), streams)));
}

function demoCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("demo")
    .description(
      "A real HTTP server on loopback under real traffic. Shows its latencies live, and checks that every request was counted.",
    )
    .option("--seconds <n>", "how long", "10")
    .option("--rate <n>", "requests per second to aim at", "400")
    .option("--port <port>", "port of the server (default: a free one)", "0")
    .option(
      "--redis <url>",
      "record into Redis; demos in several terminals then share one series, and each shows all of it",
    )
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .action(async (typed: DemoTyped) => end(await demo(demoOptions(typed), streams)));
}

function countCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("count")
    .description("Counts the entries of a Redis stream, each once, shared by all processes that run this command.")
    .requiredOption("--redis <url>", "Redis with the stream and the counters; nodes of a cluster separated by commas")
    .requiredOption("--stream <key>", "the stream; its entries have a field for each dimension")
    .requiredOption("--group <group>", "the consumer group that shares the work; created if missing")
    .requiredOption("--dimensions <list>", "names separated by commas: site,lane,direction")
    .option("--added-dimensions <list>", 'dimensions added later; an entry without such a field has ""')
    .option("--name <name>", "name of the counter (default: the stream's)")
    .option("--count <field>", "field with the number of events (default: 1 each)")
    .option("--at <field>", "field with the time, ms since 1970 (default: the time in the entry's id)")
    .option("--shards <n>", "shards of the counter; the same in every program", "64")
    .option(
      "--replicas <n>",
      "replicas that must have an entry before it is counted, and its count before it is acknowledged",
      "0",
    )
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .option("--once", "end when all entries are counted")
    .action(async (typed: CountTyped) => end(await count(typed, streams)));
}

function countersCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("counters")
    .description("Compares the shards of a counter with their table, and repairs them (docs/runbook/).")
    .addArgument(new Argument("<what>", "doctor shows, rebase repairs").choices(["doctor", "rebase"]))
    .argument("<name>", "name of the counter")
    .requiredOption("--redis <url>", "Redis with the counter; nodes of a cluster separated by commas")
    .requiredOption(
      "--sql <url>",
      "the database: postgres://…, mysql://…, mariadb://… or sqlite:<file>; it is only read",
    )
    .requiredOption("--dimensions <list>", "names separated by commas: site,lane,direction")
    .option("--added-dimensions <list>", "dimensions added later (docs/runbook/add-a-dimension.md)")
    .option("--buckets <list>", "names separated by commas", "minute,hour,day")
    .option("--time-zone <name>", "time zone of hours and days", "UTC")
    .option("--shards <n>", "shards of the counter", "64")
    .option("--table <name>", "table of the counts (default: the counter's name and _counts)")
    .option("--ledger-table <name>", "table of the ledger (default: oriel_ledger)")
    .option("--drivers <folder>", "folder whose node_modules has the database's driver", ".")
    .option("--in-doubt <what>", "drop or keep events that the table may already have, if Redis was restored")
    .option("--accept-missing", "accept the loss of counts that a restored table lacks")
    .option("--set-aside", "rename keys that are unreadable or have another layout, and start over")
    .option("--mend-sums", "trust the rows where their sum does not match")
    .option("--yes", "repair; without this option rebase only shows the plan")
    .option("--json", "print JSON, one shard a line")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .action(async (what: string, name: string, typed: CountersTyped) =>
      end(await counters(what, name, typed, streams)),
    );
}

function queueCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("queue")
    .description("Shows the state of a delay queue, and redrives its dead messages.")
    .addArgument(
      new Argument(
        "<what>",
        "counts, the next due messages, the dead messages, or redrive (add the dead messages again)",
      ).choices(["counts", "peek", "dead", "redrive"]),
    )
    .argument("<name>", "name of the queue")
    .requiredOption("--redis <url>", "Redis with the queue; nodes of a cluster separated by commas")
    .option("--shards <n>", "shards of the queue; the same in every program", "1")
    .option("--limit <n>", "messages to list: dead up to 1000, peek up to 256", "10")
    .option("--ids <list>", "redrive only these ids, separated by commas")
    .option("--json", "print JSON, one message a line")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .action(async (what: string, name: string, typed: QueueTyped) => end(await queue(what, name, typed, streams)));
}

function doctorCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("doctor")
    .description("Examines a server: its name, its settings and restrictions, and what oriel does without.")
    .option(
      "--redis <url>",
      "the server, or nodes of a cluster separated by commas (default: REDIS_URL of the environment)",
    )
    .option(
      "--url <url>",
      "instead of --redis: a REST server; UPSTASH_REDIS_REST_TOKEN of the environment is its token",
    )
    .option("--tls-ca <file>", "for rediss://: the authority that signed the server's certificate (PEM)")
    .option("--tls-cert <file>", "for rediss://: this client's certificate (PEM)")
    .option("--tls-key <file>", "for rediss://: the key of --tls-cert (PEM)")
    .option("--deadline <duration>", "longest time of each probe", "2s")
    .option("--json", "print one JSON object")
    .option("--prefix <prefix>", "prefix of the keys that the probes write; they expire within 10 s")
    .addHelpText("after", DOCTOR_HELP)
    .action(async (typed: DoctorTyped) => end(await doctor(typed, streams)));
}
