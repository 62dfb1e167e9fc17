import { Command } from "commander";
import { type DemoTyped, demo, demoOptions } from "../demo/demo.ts";
import type { Streams } from "../output.ts";

const HELP = `
Exit status: 0 every request was counted once, 1 one was not, 2 wrong usage, or Redis fails.

The address of the dashboard is printed. It is on loopback, at port 4680, or at a free one if that is taken.

Examples:
  oriel demo
  oriel demo --keep                                        # requests and dashboard go on until Ctrl-C
  oriel demo --redis redis://127.0.0.1:6379 --seconds 60   # in two terminals: both show the same numbers
`;

export function demoCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("demo")
    .description(
      "Show the latencies of a real HTTP server on loopback live, also on a dashboard, and check that each was counted.",
    )
    .option("--seconds <n>", "how long", "10")
    .option("--keep", "after the summary go on with the requests and the dashboard, until Ctrl-C")
    .option("--json", "print JSON: the addresses, one object a second, and the summary")
    .option("--rate <n>", "requests per second to aim at", "400")
    .option("--port <port>", "port of the server (default: a free one)", "0")
    .option(
      "--redis <url>",
      "record into Redis; demos in several terminals then share one series, and each shows all of it",
    )
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (typed: DemoTyped) => end(await demo(demoOptions(typed), streams)));
}
