import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedis } from "../../../scripts/find-programs.mjs";
import { watch } from "../watchdog.ts";

export interface RedisServer {
  /** The address for clients: the path of the unix socket, or redis://host:port. */
  readonly url: string;
  /** TCP port; 0 where the server listens on its unix socket only. */
  readonly port: number;
  readonly pid: number;
  /** SIGSTOP: connections stay, nothing answers. */
  pause(): void;
  resume(): void;
  isRunning(): boolean;
  /** SIGKILL: connections break, nothing is written any more. */
  kill(): Promise<void>;
  /** Kills it and removes its folder. */
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Listen on a TCP port of loopback: true finds a free one. Otherwise on a unix socket only. */
  tcp?: boolean | number;
  /** Of the TCP port: an address of loopback; default 127.0.0.1. */
  host?: string;
  args?: string[];
  /** Text of a configuration file, as Sentinel needs one; it comes before `args`. */
  config?: string;
  /** Program to start; default: ORIEL_REDIS_SERVER, redis-server, valkey-server, or what `npm test` unpacked. */
  server?: string;
}

/**
 * What stands before each server that `startRedis` starts meanwhile. So the suites of one file run on another kind of server
 * (test/store/lua54/twins.slow.test.ts).
 */
export const front: { start?: ((url: string) => Promise<{ url: string; stop(): Promise<void> }>) | undefined } = {};

/** Starts a new Redis without persistence, and waits until it answers. The caller stops it. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await (options.tcp === true
    ? withFreePorts(async (port) => start({ ...options, tcp: port }))
    : start(options));
  if (!front.start) return server;
  const { url, stop } = await front.start(server.url);
  return { ...server, url, stop: () => stop().then(server.stop) };
}

/** Tries again where another program was faster to take a port that had just been free. */
export async function withFreePorts(startOn: (port: number, another: number) => Promise<RedisServer>) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOn(await freePort(), await freePort());
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

async function start({
  tcp = false,
  host = "127.0.0.1",
  args = [],
  config,
  server,
}: RedisServerOptions): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "oriel-redis-"));
  const port = Number(tcp);
  const socket = join(folder, "redis.sock");
  const file = join(folder, "redis.conf");
  if (config !== undefined) writeFileSync(file, config);
  const listen = port ? ["--port", String(port), "--bind", host] : ["--port", "0", "--unixsocket", socket];
  const child = spawn(
    server ?? redisServerPath(),
    [
      ...(config === undefined ? [] : [file]),
      ...listen,
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      folder,
      "--loglevel",
      "warning",
      ...args,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  watch(child);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const stop = async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilAnswers(child, port ? { host, port } : { path: socket });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: port ? `redis://${host.includes(":") ? `[${host}]` : host}:${port}` : socket,
    port,
    pid: child.pid!,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill,
    stop,
  };
}

/**
 * A port of loopback that was free a moment ago. Systems take the ports of outgoing connections from 32768 upwards, so no
 * connection of another test takes this one before its server listens, or while its server restarts.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = 10_240 + Math.floor(Math.random() * (32_768 - 10_240));
    if (await isFree(port)) return port;
    if (attempt === 100) throw new Error("no free port found in 100 attempts");
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isTaken = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(true));
    server.listen(port, "127.0.0.1", () => resolve(false));
  });
  if (!isTaken) await new Promise((resolve) => server.close(resolve));
  return !isTaken;
}

let redisServer: string | undefined;

function redisServerPath(): string {
  redisServer ??= findRedis();
  if (!redisServer)
    throw new Error("no Redis server found; `npm test` makes one available, ORIEL_REDIS_SERVER names one");
  return redisServer;
}

async function untilAnswers(child: ChildProcess, address: { host: string; port: number } | { path: string }) {
  let log = "";
  child.stdout?.on("data", (chunk) => {
    log = (log + chunk).slice(-2000);
  });
  for (let attempt = 0; attempt < 1000 && child.exitCode === null; attempt++) {
    if ((await processAt(address)) === child.pid) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the Redis server did not start: ${log}`);
}

/** Process id of the server that answers there. It may be another one than the one just started. */
function processAt(address: { host: string; port: number } | { path: string }): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect(address, () => socket.write("INFO server\r\n"));
    let text = "";
    const end = (pid?: number) => {
      socket.destroy();
      resolve(pid);
    };
    socket.on("data", (data) => {
      text += data;
      const pid = /process_id:(\d+)\r/.exec(text)?.[1];
      if (pid) end(Number(pid));
    });
    socket.once("error", () => end());
    socket.once("close", () => end());
  });
}
