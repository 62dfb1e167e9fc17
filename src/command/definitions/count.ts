import { Command } from "commander";
import { redisOption } from "../config/options.ts";
import { type CountTyped, count } from "../count.ts";
import type { Streams } from "../output.ts";

const HELP = `
Exit status: 0 all entries were counted, 1 some could not be read, 2 wrong usage, or Redis fails.

Examples:
  oriel count --redis redis://127.0.0.1:6379 --stream flow:events --group g --dimensions site,lane
  REDIS_URL=redis://app:password@host oriel count --stream flow:events --group g --dimensions site --once
`;

export function countCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("count")
    .description("Count the entries of a Redis stream, each once, in all processes that run this command.")
    .addOption(redisOption("Redis with the stream and the counters"))
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
    .option("--json", "print JSON: one object at the beginning, and one at the end")
    .option("--once", "end when all entries are counted")
    .addHelpText("after", HELP)
    .action(async (typed: CountTyped) => end(await count(typed, streams)));
}
