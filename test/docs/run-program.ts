import { spawn } from "node:child_process";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { freePort } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { watch } from "../harness/watchdog.ts";
import { root } from "../house/sources.ts";
import type { Program } from "./blocks.ts";
import { written } from "./workspace.ts";

/** A busy machine may take longer to connect than a store waits for its first connection. */
const BUSY = /the connection to the server is still being opened/;
const MAX_ATTEMPTS = 3;
const VITEST = join(root, "node_modules/vitest/vitest.mjs");

/** The program on an empty database of the server at `url` must end without an error, and print what its page says. */
export async function runsAsPrinted(program: Program, url: string, env: Record<string, string> = {}): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const connection = new RespConnection(url);
    await connection.send([["SELECT", new URL(url).pathname.slice(1)], ["FLUSHDB"]]);
    connection.close();
    const { status, stdout, stderr } = await ended(program, { REDIS_URL: url, PORT: `${await freePort()}`, ...env });
    if (status !== 0 && BUSY.test(stderr) && attempt < MAX_ATTEMPTS) continue;
    expect(status, stdout + stderr).toBe(0);
    if (program.printed !== "") expect(stdout).toBe(program.printed);
    return;
  }
}

/** Runs the program. A server is stopped as soon as it listens, and has the status 0 then. */
async function ended(program: Program, env: Record<string, string>) {
  const file = written(program);
  const args = program.isForVitest ? [VITEST, "run", "--root", dirname(file), file] : [file];
  const child = spawn(process.execPath, ["--no-warnings", ...args], {
    env: { ...process.env, ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  watch(child);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  if (!program.serves) return { status: await closed, stdout, stderr };
  await until("the program listens", async () => child.exitCode !== null || (await listens(Number(env.PORT))));
  const status = child.exitCode ?? 0;
  child.kill("SIGKILL");
  await closed;
  return { status, stdout, stderr };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
