import { Command, Option } from "commander";
import { type DashboardTyped, serveDashboard } from "../dashboard/dashboard.ts";
import type { Streams } from "../output.ts";

const HELP = `
The dashboard reads what is on the screen, and changes nothing unless --allow-actions is given. It prints its address and runs
until Ctrl+C. On another address than loopback it needs a token: ORIEL_DASHBOARD_TOKEN of the environment, dashboardToken of a
configuration file, or one that it makes and prints. With --sql, counters are compared with their tables in this database.

Exit status: 0 ended by Ctrl+C, 2 wrong usage, or the address cannot be used.

Examples:
  oriel dashboard                                          # redis://127.0.0.1:6379, at http://127.0.0.1:4680/
  oriel dashboard --redis redis://10.0.0.5:6379 --port 0   # any free port
  REDIS_URL=rediss://app:password@host:6379 oriel dashboard --allow-actions
  oriel dashboard --redis redis://host --sql postgres://host/db
  oriel dashboard --host 0.0.0.0 --allow-host ops.example.com
`;

export function dashboardCommand(streams: Streams, end: (status: number) => void): Command {
  const redis = "the server; nodes of a cluster separated by commas";
  return new Command("dashboard")
    .description("Show everything in a store on one page in the browser.")
    .addOption(new Option("--redis <url>", redis).env("REDIS_URL").default("redis://127.0.0.1:6379"))
    .option("--port <n>", "port to listen on; 0 takes a free one", "4680")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--allow-host <names>", "host names under which browsers reach it, separated by commas")
    .option("--allow-actions", "let operators change data; each action is kept in a list in the store")
    .option("--mask-ids", "show ids of users only in part")
    .option("--sql <url>", "database of the counters: postgres://…, mysql://…, mariadb://… or sqlite:<file>; only read")
    .option("--drivers <folder>", "folder whose node_modules has the database's driver", ".")
    .option("--json", "print one JSON object with the address")
    .option("--prefix <prefix>", "prefix of the keys in Redis")
    .addHelpText("after", HELP)
    .action(async (typed: DashboardTyped) => end(await serveDashboard(typed, streams)));
}
