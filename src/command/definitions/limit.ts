import { Argument, Command } from "commander";
import { redisOption } from "../config/options.ts";
import { type LimitTyped, limit } from "../live/limit.ts";
import type { Streams } from "../output.ts";

const HELP = `
Policies come from the registry (oriel ls). If they are a function of the id, or the limiter is not listed, pass those of the
id with --policies: a JSON array in their order. Each has a kind and the options of its function, and a name if it has one:
fixed-window, sliding-window and gcra (limit, span), leaky-bucket (capacity, span), concurrency (limit, lease),
calendar-window (limit, every, timeZone, startsAt).

A process with denyCache or lease may decide by what it knows for up to a second after a reset or block.

Exit status: 0 done, also if the id is denied; 2 wrong usage, or Redis fails.

Examples:
  oriel limit peek api 10.0.0.7 --redis redis://127.0.0.1:6379
  oriel limit block api 10.0.0.7 10m --redis redis://127.0.0.1:6379      # 0 ends a block
  oriel limit reset api 10.0.0.7 --redis redis://127.0.0.1:6379 \\
    --policies '[{"kind":"sliding-window","limit":100,"span":"1m"}]'
`;

export function limitCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("limit")
    .description("Show the permits of an id, reset it, or block it.")
    .addArgument(
      new Argument("<what>", "show the decision that take would make, reset the id, or block it").choices([
        "peek",
        "reset",
        "block",
      ]),
    )
    .argument("<name>", "name of the limiter")
    .argument("<id>", "the id, as the program passes it to take")
    .argument("[duration]", "with block: how long, such as 10m; 0 ends a block")
    .addOption(redisOption("Redis with the limiter"))
    .option("--policies <json>", "the policies of this id")
    .option("--cost <n>", "with peek: permits of the call (default: 1)")
    .option("--tag <tag>", "the tag, if the program passes one to take")
    .option("--json", "print one JSON object; an infinite time is null")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (what: string, name: string, id: string, duration: string | undefined, typed: LimitTyped) =>
      end(await limit({ what, name, id, duration }, typed, streams)),
    );
}
