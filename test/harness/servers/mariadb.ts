import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { findMariadb } from "../../../scripts/find-programs.mjs";
import { until } from "../until.ts";
import { watch } from "../watchdog.ts";
import { type DatabaseServer, runToEnd, serverFolder, serverUser } from "./database.ts";
import { freePort } from "./redis-server.ts";

/** Its user `root` has no password; its database is `oriel`. */
export type MariadbServer = DatabaseServer;

export interface MariadbOptions {
  /** Arguments of mariadbd. Tests need no durability against power cuts: the log is not flushed at each commit. */
  args?: string[];
}

const TABLES = ["mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql"];

/** Starts a new MariaDB and waits until it answers. The caller stops it. */
export async function startMariadb({ args = [] }: MariadbOptions = {}): Promise<MariadbServer> {
  const found = findMariadb();
  if (!found)
    throw new Error("no MariaDB found; `npm run test:all` makes one available, ORIEL_MARIADB_SERVER names one");
  const { server, share, env } = found;
  const user = serverUser();
  const { folder, remove } = serverFolder("oriel-mariadb-", user);
  const data = join(folder, "data");
  const port = await freePort();
  const common = [
    "--no-defaults",
    `--datadir=${data}`,
    `--lc-messages-dir=${share}`,
    "--skip-log-bin",
    `--tmpdir=${folder}`,
  ];
  let child: ChildProcess | undefined;

  const start = async () => {
    let log = "";
    const network = [`--socket=${join(folder, "socket")}`, `--port=${port}`, "--bind-address=127.0.0.1"];
    const durability = "--innodb-flush-log-at-trx-commit=2";
    child = spawn(server, [...common, ...network, durability, "--skip-name-resolve", ...args], {
      ...user,
      env,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    watch(child);
    child.stderr?.on("data", (chunk) => {
      log = (log + chunk).slice(-2000);
    });
    const ended = () => child?.exitCode !== null || child.signalCode !== null;
    await until("MariaDB answers", async () => ended() || answers(port));
    if (ended()) throw new Error(`MariaDB did not start: ${log}`);
  };
  const kill9 = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
  const stop = async () => {
    await kill9();
    remove();
  };
  try {
    await bootstrap();
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, kill9, restart: start, stop };

  /** What mariadb-install-db does, without its shell script, which knows installed places only. */
  async function bootstrap() {
    const begin = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\nSET @skip_auth_anonymous=1;\n";
    const tables = TABLES.map((name) => readFileSync(join(share, name), "utf8"));
    const input = [begin, ...tables, "CREATE DATABASE oriel;"].join("\n");
    await runToEnd("mkdir", ["-p", data], { ...user, env: process.env });
    await runToEnd(server, [...common, "--bootstrap", "--innodb-flush-log-at-trx-commit=0"], { ...user, env, input });
  }
}

/** Whether it greets a new connection with its handshake, and not with an error. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", (data) => {
      resolve(data[4] === 10);
      socket.destroy();
    });
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}
