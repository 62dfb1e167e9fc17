import { Argument, Command } from "commander";
import { type LockTyped, lock } from "../lock.ts";
import type { Streams } from "../streams.ts";
import { redisOption } from "./redis-option.ts";

const HELP = `
The former holder of a released lock learns of it at its next renewal, and works on until then. The storage must refuse its
fence, or the holder's process must be stopped first.

Exit status: 0 done, 1 nothing was released (the lock is free, or another hold has it), 2 wrong usage, or Redis fails.

Examples:
  oriel lock show nightly --redis redis://127.0.0.1:6379
  oriel lock release nightly --redis redis://127.0.0.1:6379 --fence 1795000000000001
`;

export function lockCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("lock")
    .description("Show who holds a lock, and release a lock whose holder hangs.")
    .addArgument(
      new Argument("<what>", "show the state, or release the lock of any holder").choices(["show", "release"]),
    )
    .argument("<name>", "name of the lock")
    .addOption(redisOption("Redis with the lock"))
    .option("--fence <n>", "release only the hold with this fence, which show prints")
    .option("--json", "print one JSON object")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (what: string, name: string, typed: LockTyped) => end(await lock(what, name, typed, streams)));
}
