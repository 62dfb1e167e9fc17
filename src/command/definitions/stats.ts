import { Command } from "commander";
import { redisOption } from "../config/options.ts";
import { type StatsTyped, stats } from "../live/stats.ts";
import type { Streams } from "../output.ts";

const HELP = `
Settings come from the registry (oriel ls). A name that it does not list is read as a series, with a notice on stderr.
Of counters, Redis has the counts that are not drained yet; all of them are read. A limiter shows its policies: oriel
limit peek shows the permits of an id. A series with labels shows all its groups together, and the 10 with the most
events; --json has all of them. Kinds without live numbers show their settings.

Exit status: 0 printed, 2 wrong usage, or Redis fails.

Examples:
  oriel stats api:latency --span 5m --percentiles 50,99,99.9 --redis redis://127.0.0.1:6379
  oriel stats payments --kind breaker --redis redis://127.0.0.1:6379
  oriel stats sms --redis redis://127.0.0.1:6379 --json
`;

export function statsCommand(streams: Streams, end: (status: number) => void): Command {
  return withStatsOptions(new Command("stats"))
    .description("Print the numbers of a series, breaker, limiter, queue, counter, fleet or lock.")
    .option("--json", "print one JSON object; NaN is null")
    .addHelpText("after", HELP)
    .action(async (name: string, typed: StatsTyped) => end(await stats(name, typed, streams)));
}

/** The argument and the options of `stats` and `watch`. */
export function withStatsOptions(command: Command): Command {
  return command
    .argument("<name>", "name of the structure")
    .addOption(redisOption("Redis with the structure"))
    .option("--kind <kind>", "the kind, if structures of several kinds have the name")
    .option("--span <duration>", "length of a series' window", "5m")
    .option("--percentiles <list>", "percentiles of a series, 0 to 100", "50,90,99")
    .option("--values <type>", "type of the values of a series that is not listed: float32 or float64")
    .option("--clock <clock>", "clock of a series that is not listed: server or event (replay stores event)")
    .option("--retention <duration>", "retention of a series that is not listed (default: 1h, or the span if longer)")
    .option("--prefix <prefix>", "prefix of the keys in Redis");
}
