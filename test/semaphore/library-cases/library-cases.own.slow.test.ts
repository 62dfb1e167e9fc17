import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memoryStore, redisStore } from "../../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { functions, isAlone } from "./functions.ts";
import { type Case, lifetimes } from "./lifetimes.ts";
import { outages } from "./outages.ts";
import { reasons } from "./reasons.ts";
import { structures } from "./structures.ts";
import { Scene, type Server, subjects } from "./subjects.ts";

/** The titles of the test cases in redis-semaphore's repository, by file, without those for several servers. */
const published = JSON.parse(readFileSync(new URL("published.json", import.meta.url), "utf8")) as {
  version: string;
  titles: Record<string, string[]>;
};
const cases: Readonly<Record<string, Case>> = { ...lifetimes, ...functions, ...structures, ...outages };
const all = Object.entries(published.titles).flatMap(([file, titles]) => titles.map((title) => ({ file, title })));
const ours = all.filter(({ title }) => title in cases);

let running: RedisServer;
let server: Server;
beforeAll(async () => {
  running = await startRedis();
  server = { store: redisStore(running.url), raw: new Redis(running.url) };
  await server.raw.ping();
});
afterAll(async () => {
  server?.raw.disconnect();
  await server?.store.close();
  await running?.stop();
});

function play({ file, title }: { file: string; title: string }): Promise<void> {
  const isMemory = title.startsWith("ioredis-mock support");
  const used = isMemory ? { ...server, store: memoryStore() } : server;
  return cases[title]!(new Scene(subjects[file]!, used));
}

describe(`the test cases of redis-semaphore ${published.version}, with oriel's locks of one server`, () => {
  for (const each of ours) {
    const run = isAlone(each.title) ? test : test.concurrent;
    run(`${each.file}: ${each.title}`, () => play(each));
  }
});

test("every published case passes here or has a reason, never both; no case or reason is left over", () => {
  expect(all.length).toBe(102);
  const titles = new Set(all.map(({ title }) => title));
  expect([...titles].filter((title) => title in cases === title in reasons)).toEqual([]);
  expect([...Object.keys(cases), ...Object.keys(reasons)].filter((title) => !titles.has(title))).toEqual([]);
  expect(ours.filter(({ file }) => !(file in subjects))).toEqual([]);
  expect(ours.length).toBeGreaterThan(80);
});
