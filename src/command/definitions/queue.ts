import { Argument, Command } from "commander";
import { redisOption } from "../config/options.ts";
import type { Streams } from "../output.ts";
import { type QueueTyped, queue } from "../queue.ts";

const HELP = `
Exit status: 0 done, 2 wrong usage, or Redis fails.

Examples:
  oriel queue counts sms --redis redis://127.0.0.1:6379
  oriel queue dead sms --redis redis://127.0.0.1:6379 --limit 100 --json
  oriel queue redrive sms --redis redis://127.0.0.1:6379 --ids order-17,order-18
  oriel queue pause sms --redis redis://127.0.0.1:6379
`;

export function queueCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("queue")
    .description("Inspect a queue, retry dead messages, pause and resume.")
    .addArgument(
      new Argument(
        "<what>",
        "counts; peek lists the next due messages, dead lists dead ones, redrive retries them; " +
          "pause lets workers claim nothing until resume",
      ).choices(["counts", "peek", "dead", "redrive", "pause", "resume"]),
    )
    .argument("<name>", "name of the queue")
    .addOption(redisOption("Redis with the queue"))
    .option("--shards <n>", "shards of the queue (default: those that the registry lists, else 1)")
    .option("--limit <n>", "messages to list: dead up to 1000, peek up to 256", "10")
    .option("--ids <list>", "redrive only these ids, separated by commas")
    .option("--json", "print JSON, one message a line")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (what: string, name: string, typed: QueueTyped) => end(await queue(what, name, typed, streams)));
}
