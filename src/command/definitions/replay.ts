import { Command, Option } from "commander";
import type { Streams } from "../output.ts";
import { replayOptions, type TypedOptions } from "../replay/options.ts";
import { replay } from "../replay/replay.ts";

/** The definition of the windows, as printed by `oriel replay --help`. */
const REPLAY_HELP = `
Windows
  Windows end at the whole multiples T of --every since 1970 UTC. The window that ends at T holds the events with
  T - span < t <= T (--closed both: T - span <= t <= T). It is printed as soon as a time t with t - lateness > T is
  read. The end of the input prints the remaining windows, up to the first T at or after the latest event. Windows
  without events are printed only with --empty. An event that arrives after the print of a window that covers it counts
  in the later windows that cover it. The summary reports the number of such events, and of events too late for any
  window.

Input
  CSV, NDJSON (one JSON object a line), or a common or combined access log, in UTF-8. The first 1000 lines decide the form,
  the columns and the fields; on standard input, those that came first. One line on stderr says as what the input is read.
  If more than 1 % of these lines do not have the form, the first of them is shown, and nothing is read. With --format they
  are counted as unreadable, as later ones are. The first five are printed on stderr.
  Times: ISO 8601, "2014-03-07 03:41:00" (UTC by default), "2014/03/07 03:41:00", epoch seconds or ms, access log times.
  Durations: 250ms 10s 5m 1h 7d, or a number of ms.
  Without --time, the time is the column or field with a name such as time or ts, or the only one that holds times.
  Without --value, a CSV or NDJSON file must have one column or field that is likely to be the value: a name such as value
  or latency, the only one of numbers, or the only one of numbers with a unit in its name. A status is not measured, so it
  must be asked for.

Picture
  The name of the file ends in .svg, .png or .html. An old file is replaced when the new one is complete.
  The band reaches from the lowest to the highest percentile. The mean is dashed. Bars are the events per window.
  --unit: 1200 is "1.2 s" in ms and "1.17 KiB" in bytes. Without it the name decides: wait_ms, bytes, duration (ms).
  --scale auto is logarithmic if no value is negative and the positive ones are 100 times apart. 0 is at the bottom.

Exit status
  0 all lines were read · 1 some could not be read, or the series of a key failed and was skipped · 2 wrong usage, unreadable file or one whose form is not certain, unreachable or failing Redis

Examples
  oriel replay access.log --key status-class --span 10m --every 1m --lateness 1m
  oriel replay latency.csv --percentiles 50,99,99.9 --plot latency.png --unit ms
  oriel replay access.log --key status-class --span 1h --plot bytes.html
  tail -f events.ndjson | oriel replay - --time ts --value timing.total --span 1m --json
`;

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
