import { Command } from "commander";
import { type WatchTyped, watch } from "../live/watch.ts";
import type { Streams } from "../output.ts";
import { withStatsOptions } from "./stats.ts";

const HELP = `
A terminal shows the numbers in place. A pipe gets one line each time, or with --json one JSON object.
A failing read is shown, and the next one follows.

Exit status: 0 ended by Ctrl-C or --count; 2 wrong usage, or Redis failed at the first or the last read.

Examples:
  oriel watch api:latency --span 1m --redis redis://127.0.0.1:6379
  oriel watch sms --every 5s --count 12 --redis redis://127.0.0.1:6379 --json
`;

export function watchCommand(streams: Streams, end: (status: number) => void): Command {
  return withStatsOptions(new Command("watch"))
    .description("Print the numbers of a structure each second, until Ctrl-C.")
    .option("--every <duration>", "time between two reads, at least 100ms", "1s")
    .option("--count <n>", "end after this number of reads")
    .option("--json", "print JSON, one reading a line")
    .addHelpText("after", HELP)
    .action(async (name: string, typed: WatchTyped) => end(await watch(name, typed, streams)));
}
