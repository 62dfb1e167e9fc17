import { Argument, Command } from "commander";
import { redisOption } from "../config/options.ts";
import { type BreakerTyped, breaker } from "../live/breaker.ts";
import type { Streams } from "../output.ts";

const HELP = `
Settings come from the registry (oriel ls). An opened circuit rejects the calls of all processes for one cooldown, or for --for. With
--for, a closed circuit stays closed for so long, whatever fails. reset makes a new circuit of it, without orders and counts. The
processes learn of an order with their next report.

Exit status: 0 done, 1 a listed breaker could not be read, 2 wrong usage, or Redis fails.

Examples:
  oriel breaker ls --redis redis://127.0.0.1:6379
  oriel breaker open payments --for 10m --redis redis://127.0.0.1:6379
  oriel breaker close payments --redis redis://127.0.0.1:6379 --json
`;

export function breakerCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("breaker")
    .description("List the circuits of breakers, and open, close or reset one for all processes.")
    .addArgument(
      new Argument("<what>", "list circuits, open one for a cooldown, close it, or make a new one of it").choices([
        "ls",
        "open",
        "close",
        "reset",
      ]),
    )
    .argument("[name]", "name of the breaker; with ls a pattern, such as 'pay*'")
    .addOption(redisOption("Redis with the breakers"))
    .option("--for <length>", 'with open and close, how long the order holds, such as "10m"; at most 7d')
    .option("--json", "print one JSON object; with ls one for each breaker, one a line")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (what: string, name: string | undefined, typed: BreakerTyped) =>
      end(await breaker(what, name, typed, streams)),
    );
}
