// Every block of README.md and docs/ is checked and run. PAGE=docs/structures chooses pages.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oncePerFile } from "../harness/ends.ts";
import { type PostgresServer, startPostgres } from "../harness/servers/postgres.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { startSentinel } from "../harness/servers/sentinel.ts";
import { blocksOf, chosenPages, programsOf } from "./blocks.ts";
import { runsAsPrinted } from "./run-program.ts";
import { removeWorkspace, typeErrors, workspace } from "./workspace.ts";

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

const programs = chosenPages().flatMap(programsOf);
const redis = oncePerFile(() => startRedis({ tcp: true }));
const postgres = oncePerFile<PostgresServer>(() => startPostgres());
const cluster = oncePerFile(() => startCluster(3));
const sentinel = oncePerFile(() => startSentinel());
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
      const env: Record<string, string> = {};
      if (program.code.includes("DATABASE_URL")) env.DATABASE_URL = (await postgres()).url;
      if (program.code.includes("REDIS_NODES")) env.REDIS_NODES = (await cluster()).urls.join();
      if (program.code.includes("SENTINELS")) {
        const { sentinels, name } = (await sentinel()).address;
        env.SENTINELS = sentinels.map(({ host, port }) => `${host}:${port}`).join();
        env.SENTINEL_NAME = name;
      }
      const { url } = await redis();
      if (program.code.includes("REDIS_URLS")) env.REDIS_URLS = [2, 3, 4].map((other) => `${url}/${other}`).join();
      await runsAsPrinted(program, `${url}/${database}`, env);
    });
    lanes[database] = ran.catch(() => {});
    return ran;
  });
});
