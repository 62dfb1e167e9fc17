import { Argument, Command } from "commander";
import { argumentError } from "../../base/errors.ts";
import { redisOption } from "../config/options.ts";
import { lockLs } from "../live/lock-ls.ts";
import { type LockTyped, lock } from "../lock.ts";
import type { Streams } from "../output.ts";

const HELP = `
The former holder of a released lock learns of it at its next renewal, and works on until then. The storage must refuse its
fence, or the holder's process must be stopped first.

ls lists the locks of the class Lock that are held, of those in the registry (oriel ls). A hold is known by its fence.

Exit status: 0 done, 1 nothing was released (the lock is free, or another hold has it) or ls could not read a lock, 2 wrong usage, or Redis fails.

Examples:
  oriel lock ls 'job:*' --redis redis://127.0.0.1:6379
  oriel lock show nightly --redis redis://127.0.0.1:6379
  oriel lock release nightly --redis redis://127.0.0.1:6379 --fence 1795000000000001
`;

export function lockCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("lock")
    .description("List held locks, show the holder of a lock, and release a lock if its holder hangs.")
    .addArgument(
      new Argument("<what>", "list held locks, show the state, or release the lock of any holder").choices([
        "ls",
        "show",
        "release",
      ]),
    )
    .argument("[name]", "name of the lock; with ls a pattern, such as 'job:*'")
    .addOption(redisOption("Redis with the lock"))
    .option("--fence <n>", "release only the hold with this fence, which show prints")
    .option("--json", "print one JSON object; with ls one for each lock, one a line")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (what: string, name: string | undefined, typed: LockTyped) => {
      if (what === "ls") return end(await lockLs(name, typed, streams));
      if (name === undefined) throw argumentError("name", name, "the name of the lock");
      end(await lock(what, name, typed, streams));
    });
}
