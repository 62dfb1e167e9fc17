import { Command, Option } from "commander";
import { REPLAY_HELP } from "../replay/help.ts";
import { replayOptions, type TypedOptions } from "../replay/options.ts";
import { replay } from "../replay/replay.ts";
import type { Streams } from "../streams.ts";

export function replayCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("replay")
    .description("Print statistics of a CSV, NDJSON or access log file, window by window.")
    .argument("<file>", "the file, or - for standard input")
    .addOption(
      new Option("--format <format>", "format of the file (default: recognised from its first lines)").choices([
        "csv",
        "ndjson",
        "log",
      ]),
    )
    .option("--time <part>", "the time: CSV column (name or number from 1), JSON field path")
    .option(
      "--value <part>",
      "the value: column, field path; in a log: bytes (default) or status; else guessed by type",
    )
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
    .option("--plot <file>", "draw percentiles, mean and events per window over time, as .svg, .png or .html")
    .option("--unit <unit>", "picture: ns, us, ms, s, bytes, none or a label (default: guessed from the name)")
    .addOption(
      new Option("--scale <scale>", "picture: scale of the values").choices(["auto", "log", "linear"]).default("auto"),
    )
    .option("--width <pixels>", "picture: its width, 320 to 4000", "1200")
    .option("--redis <url>", "keep the series in Redis, shared with other processes")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .option("--name <name>", "name of the series (default: the file's); with --key followed by : and the key")
    .addHelpText("after", REPLAY_HELP)
    .action(async (file: string, typed: TypedOptions) => end(await replay(replayOptions(file, typed), streams)));
}
