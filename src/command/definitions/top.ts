import { Command } from "commander";
import { redisOption } from "../config/options.ts";
import { type TopTyped, top } from "../live/top/top.ts";
import type { Streams } from "../output.ts";

const HELP = `
The first line is the health of the store: server, round trip, memory, persistence, eviction and clock. Bad facts have a
colour. trend shows the rates of the last reads, each row on a scale of its own.

Keys: arrows, j, k, PgUp and PgDn select, Enter opens, Esc goes back, / filters by name, s changes the order (kind, name,
rate, p99, denied, lag), r reverses it, q ends. Only the rows on the screen are read; an order by numbers reads all rows. Of
a kind without live numbers, and of counters, the settings are shown.

With --once --json the first object is {"health": ...}, and each of the others is a structure.

Exit status: 0 ended, 1 with --once: a structure could not be read, 2 wrong usage, no terminal without --once, or Redis fails.

Examples:
  oriel top --redis redis://127.0.0.1:6379
  oriel top 'api:*' --span 5m --every 2s --redis redis://127.0.0.1:6379
  oriel top --once --json --redis redis://127.0.0.1:6379
`;

export function topCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("top")
    .description("Show all structures in a Redis live, with rates, p99, open circuits and waiting messages.")
    .argument("[pattern]", "only names that match: * stands for any characters, ? for one")
    .addOption(redisOption("Redis with the structures"))
    .option("--kind <kind>", "only this kind, such as Series or Limiter")
    .option("--span <duration>", "length of the window of a series", "1m")
    .option("--every <duration>", "time between two reads, at least 100ms", "1s")
    .option("--once", "print all structures once, also to a pipe or a file")
    .option("--json", "with --once: print JSON, the store and then each structure on a line")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (pattern: string | undefined, typed: TopTyped) => end(await top(pattern, typed, streams)));
}
