import { Command } from "commander";
import { redisOption } from "../config/options.ts";
import { type LsTyped, ls } from "../live/ls.ts";
import type { Streams } from "../output.ts";

const HELP = `
Each process announces its structures at most once a minute. An idle structure stays in the list for 7 days, and its
number of processes covers the last hour. A narrow terminal shows fewer columns.

Exit status: 0 listed, also if the list is empty; 2 wrong usage, or Redis fails.

Examples:
  oriel ls --redis redis://127.0.0.1:6379
  oriel ls 'api:*' --kind series --redis redis://127.0.0.1:6379
  oriel ls --redis redis://127.0.0.1:6379 --json
`;

export function lsCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("ls")
    .description("List the series, limiters, locks, queues and other structures in a Redis.")
    .argument("[pattern]", "only names that match: * stands for any characters, ? for one")
    .addOption(redisOption("Redis with the structures"))
    .option("--kind <kind>", "only this kind, such as Series or Limiter")
    .option("--json", "print JSON, one structure a line")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (pattern: string | undefined, typed: LsTyped) => end(await ls(pattern, typed, streams)));
}
