import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { findPostgres } from "../../../scripts/find-programs.mjs";
import { until } from "../until.ts";
import { watch } from "../watchdog.ts";
import { type DatabaseServer, runToEnd, serverFolder, serverUser } from "./database.ts";
import { freePort } from "./redis-server.ts";

export interface PostgresServer extends DatabaseServer {
  /** postgres://postgres@127.0.0.1:port/postgres */
  readonly url: string;
}

export interface PostgresOptions {
  /** Settings, as `-c` takes them: "fsync=on". Tests need no durability against power cuts: fsync is off. */
  settings?: string[];
}

/** Starts a new PostgreSQL and waits until it answers. The caller stops it. */
export async function startPostgres({ settings = [] }: PostgresOptions = {}): Promise<PostgresServer> {
  const found = findPostgres();
  if (!found)
    throw new Error("no PostgreSQL found; `npm run test:all` makes one available, ORIEL_POSTGRES_BIN names one");
  const user = serverUser();
  const { folder, remove } = serverFolder("oriel-postgres-", user);
  const data = join(folder, "data");
  const env = { ...found.env, LC_ALL: "C" };
  const port = await freePort();
  const initialise = ["-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C"];
  const defaults = ["fsync=off", "jit=off", "max_connections=60", "unix_socket_directories="];
  const flags = [...defaults, ...settings].flatMap((setting) => ["-c", setting]);
  let child: ChildProcess | undefined;

  const start = async () => {
    let log = "";
    child = spawn(
      join(found.bin, "postgres"),
      ["-D", data, "-p", String(port), "-c", "listen_addresses=127.0.0.1", ...flags],
      { ...user, env, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
    );
    watch(child);
    child.stderr?.on("data", (chunk) => {
      log = (log + chunk).slice(-2000);
    });
    const ended = () => child?.exitCode !== null || child.signalCode !== null;
    await until("PostgreSQL answers", async () => ended() || answers(port));
    if (ended()) throw new Error(`PostgreSQL did not start: ${log}`);
  };
  const kill9 = async () => {
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGSTOP"); // it starts no more of them, and does not restart because one died
    for (const pid of [...childrenOf(child.pid), child.pid]) process.kill(pid, "SIGKILL");
    await exit;
  };
  /** The killed one's memory is shared until the last of its processes has gone. */
  const restart = async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await start();
      } catch (error) {
        if (attempt === 20) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  /** At once, but not with SIGKILL, after which shared memory stays with the system. */
  const stop = async () => {
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGQUIT");
      await once(child, "exit");
    }
    remove();
  };
  try {
    await runToEnd(join(found.bin, "initdb"), initialise, { ...user, env });
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, url: `postgres://postgres@127.0.0.1:${port}/postgres`, kill9, restart, stop };
}

function childrenOf(parent: number): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  return pairs.flatMap(([pid, ppid]) => (ppid === parent ? [pid] : []));
}

/** Whether it takes a start-up message with a request for authentication, and not with an error. */
function answers(port: number): Promise<boolean> {
  const body = Buffer.from("\0\x03\0\0user\0postgres\0database\0postgres\0\0", "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.concat([length, body])));
    socket.once("data", (data) => {
      resolve(data.toString("latin1", 0, 1) === "R");
      socket.destroy();
    });
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}
