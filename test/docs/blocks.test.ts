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
/** Databases of one Redis. */
const DATABASES = 16;

const programs = chosenPages().flatMap(programsOf);
const redis = oncePerFile(() => startRedis({ tcp: true }));
const postgres = oncePerFile<PostgresServer>(() => startPostgres());
const free = Array.from({ length: DATABASES }, (_, i) => i);

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

test("the programs compile under the strictest flags", { timeout: 120_000 }, () => {
  expect(typeErrors(programs)).toEqual([]);
});

describe.runIf(programs.length > 0)("a program ends without an error and prints what its page says", () => {
  test.concurrent.each(programs)("$name", { timeout: 60_000 }, async (program) => {
    const database = free.shift()!;
    try {
      const url = `${(await redis()).url}/${database}`;
      const connection = new RespConnection(url);
      await connection.send([["SELECT", `${database}`], ["FLUSHDB"]]);
      connection.close();
      const env: Record<string, string> = { REDIS_URL: url, PORT: `${await freePort()}` };
      if (program.code.includes("DATABASE_URL")) env.DATABASE_URL = (await postgres()).url;
      await ran(program, env);
    } finally {
      free.push(database);
    }
  });
});

async function ran(program: Program, env: Record<string, string>): Promise<void> {
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
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  if (program.serves) {
    await until(
      "the program listens",
      async () => child.exitCode !== null || (await listens(Number(env.PORT))),
      30_000,
    );
    expect(child.exitCode, stderr).toBe(null);
    child.kill("SIGKILL");
    await ended;
    return;
  }
  expect(await ended, stdout + stderr).toBe(0);
  if (program.printed !== "") expect(stdout).toBe(program.printed);
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
