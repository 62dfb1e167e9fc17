import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface RedisServer {
  /** What a client connects to: the path of the unix socket, or redis://127.0.0.1:port. */
  readonly url: string;
  /** TCP port on loopback; 0 where the server listens on its unix socket only. */
  readonly port: number;
  readonly pid: number;
  /** SIGSTOP: connections stay, nothing answers. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Listen on a TCP port of loopback: true finds a free one. Otherwise on a unix socket only. */
  tcp?: boolean | number;
  args?: string[];
}

/** Starts a Redis of one's own, without persistence, and waits until it answers. Whoever starts it stops it. */
export async function startRedis({ tcp = false, args = [] }: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "oriel-redis-"));
  const port = tcp === true ? await freePort() : tcp || 0;
  const socket = join(folder, "redis.sock");
  const listen = port ? ["--port", String(port), "--bind", "127.0.0.1"] : ["--port", "0", "--unixsocket", socket];
  const child = spawn(
    findRedisServer(),
    [...listen, "--save", "", "--appendonly", "no", "--dir", folder, "--loglevel", "warning", ...args],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async () => {
    process.removeListener("exit", kill);
    child.kill("SIGCONT");
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilAnswers(child, port ? { host: "127.0.0.1", port } : { path: socket });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: port ? `redis://127.0.0.1:${port}` : socket,
    port,
    pid: child.pid!,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    stop,
  };
}

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** ORIEL_REDIS_SERVER, redis-server or valkey-server; `npm test` installs one where there is none. */
function findRedisServer(): string {
  const named = process.env.ORIEL_REDIS_SERVER;
  const candidates = named ? [named] : ["redis-server", "valkey-server"];
  const found = candidates.find((name) => spawnSync(name, ["--version"]).status === 0);
  if (!found) throw new Error(`no Redis server found (${candidates.join(", ")}); name one in ORIEL_REDIS_SERVER`);
  return found;
}

async function untilAnswers(child: ChildProcess, address: { host: string; port: number } | { path: string }) {
  let log = "";
  child.stdout?.on("data", (chunk) => {
    log = (log + chunk).slice(-2000);
  });
  for (let attempt = 0; attempt < 500 && child.exitCode === null; attempt++) {
    const answers = await new Promise<boolean>((resolve) => {
      const socket = connect(address, () => socket.write("PING\r\n"));
      const end = (answer: boolean) => {
        socket.destroy();
        resolve(answer);
      };
      socket.once("data", (data) => end(data.toString().startsWith("+PONG")));
      socket.once("error", () => end(false));
    });
    if (answers) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the Redis server did not start: ${log}`);
}
