import { Argument, Command, Option } from "commander";
import { neededOption, redisOption } from "../config/options.ts";
import { type CountersTyped, counters } from "../counters.ts";
import type { Streams } from "../output.ts";

const HELP = `
Dimensions, buckets, time zone and shards come from the registry (oriel ls), unless options name them. The defaults are for a
counter that it does not list, which needs --dimensions.

Exit status: 0 all shards are good, or repaired; 1 some are not; 2 wrong usage, or a server fails.

Examples:
  oriel counters doctor flow --redis redis://host --sql postgres://host/db
  oriel counters doctor flow --redis redis://host --sql postgres://host/db --dimensions site,lane
  oriel counters rebase flow --redis redis://host --sql postgres://host/db --dimensions site,lane --yes
`;

export function countersCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("counters")
    .description("Compare the shards of a counter with their table, and repair them (docs/runbook/).")
    .addArgument(new Argument("<what>", "doctor shows, rebase repairs").choices(["doctor", "rebase"]))
    .argument("<name>", "name of the counter")
    .addOption(redisOption("Redis with the counter"))
    .addOption(
      neededOption(
        new Option(
          "--sql <url>",
          "the database: postgres://…, mysql://…, mariadb://… or sqlite:<file>; it is only read",
        ),
        "sql of a configuration file can replace it",
      ),
    )
    .option("--dimensions <list>", "names separated by commas: site,lane,direction")
    .option("--added-dimensions <list>", "dimensions added later (docs/runbook/add-a-dimension.md)")
    .option("--buckets <list>", "names separated by commas (default: minute,hour,day)")
    .option("--time-zone <name>", "time zone of hours and days (default: UTC)")
    .option("--shards <n>", "shards of the counter (default: 64)")
    .option("--table <name>", "table of the counts (default: the counter's name and _counts)")
    .option("--ledger-table <name>", "table of the ledger (default: oriel_ledger)")
    .option("--drivers <folder>", "folder whose node_modules has the database's driver", ".")
    .option("--in-doubt <what>", "drop or keep events that the table may already have, if Redis was restored")
    .option("--accept-missing", "accept the loss of counts that a restored table lacks")
    .option("--other-is-gone", "continue a table into which another counter was drained that is no more")
    .option("--set-aside", "rename keys that are unreadable or have another layout, and start over")
    .option("--mend-sums", "trust the rows where their sum does not match")
    .option("--yes", "repair; without this option rebase only shows the plan")
    .option("--json", "print JSON, one shard a line")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (what: string, name: string, typed: CountersTyped) =>
      end(await counters(what, name, typed, streams)),
    );
}
