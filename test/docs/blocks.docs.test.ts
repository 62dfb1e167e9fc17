// Every block of README.md and docs/ is checked and run. PAGE=docs/structures chooses pages.
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oncePerFile } from "../harness/ends.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { type PostgresServer, startPostgres } from "../harness/servers/postgres.ts";
import { freePort, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { watch } from "../harness/watchdog.ts";
import { blocksOf, chosenPages, type Program, programsOf } from "./blocks.ts";
import { removeWorkspace, typeErrors, workspace, written } from "./workspace.ts";

/** Blocks in other languages are text for people or for other programs. */
const LANGUAGES = [
  "ts",
  "text",
  "sh",
  "json",
  "yaml",
  "http",
  "sql",
  "lua",
  "python",
  "dockerfile",
  "toml",
  "html",
  "vue",
];
/** Programs that run at once, each on a database of its own. More of them would only delay each other. */
const CONCURRENT = 2;
/** A busy machine may take longer to connect than a store waits for its first connection. */
const BUSY = /no connection to the server is open yet/;
const MAX_ATTEMPTS = 3;

const programs = chosenPages().flatMap(programsOf);
const redis = oncePerFile(() => startRedis({ tcp: true }));
const postgres = oncePerFile<PostgresServer>(() => startPostgres());
/** The last program of each database. */
const lanes = Array.from({ length: CONCURRENT }, () => Promise.resolve());

beforeAll(() => void workspace());
afterAll(removeWorkspace);

test("each block names a language", () => {
  const others = chosenPages()
    .flatMap(blocksOf)
    .filter(({ language }) => !LANGUAGES.includes(language));
  expect(others.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([]);
});

test("each JSON block is JSON", () => {
  const json = chosenPages()
    .flatMap(blocksOf)
    .filter(({ language }) => language === "json");
  for (const { page, line, code } of json) expect(() => JSON.parse(code), `${page}:${line}`).not.toThrow();
});

test("the programs compile under the strictest flags", () => {
  expect(typeErrors(programs)).toEqual([]);
});

describe.runIf(programs.length > 0)("a program ends without an error and prints what its page says", () => {
  test.concurrent.each(programs)("$name", (program) => {
    const database = programs.indexOf(program) % CONCURRENT;
    const ran = lanes[database]!.then(async () => {
      for (let attempt = 1; !(await ranOn(program, database, attempt === MAX_ATTEMPTS)); attempt++);
    });
    lanes[database] = ran.catch(() => {});
    return ran;
  });
});

/** False if the machine was too busy, and this is not the last attempt. */
async function ranOn(program: Program, database: number, isLast: boolean): Promise<boolean> {
  const url = `${(await redis()).url}/${database}`;
  const connection = new RespConnection(url);
  await connection.send([["SELECT", `${database}`], ["FLUSHDB"]]);
  connection.close();
  const env: Record<string, string> = { REDIS_URL: url, PORT: `${await freePort()}` };
  if (program.code.includes("DATABASE_URL")) env.DATABASE_URL = (await postgres()).url;
  const { status, stdout, stderr } = await ended(program, env);
  if (status !== 0 && BUSY.test(stderr) && !isLast) return false;
  expect(status, stdout + stderr).toBe(0);
  if (program.printed !== "") expect(stdout).toBe(program.printed);
  return true;
}

/** Runs the program. A server is stopped as soon as it listens, and has the status 0 then. */
async function ended(program: Program, env: Record<string, string>) {
  const child = spawn(process.execPath, ["--no-warnings", written(program)], {
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
