import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Counters, redisStore } from "../../src/entries/index.ts";
import { sqliteSink } from "../../src/entries/sql.ts";
import { Sqlite } from "../drain/sql/clients.ts";
import { startChild } from "../harness/child.ts";
import type { RedisServer } from "../harness/servers/redis-server.ts";
import { startReplicated } from "../harness/servers/replicas.ts";
import type { StructureName } from "../matrix/structures.ts";
import { rowsOf } from "../matrix/table.ts";
import { Random } from "../simulator/world/random.ts";
import { SHARES } from "./stopped/acts.ts";
import { judge } from "./stopped/judge.ts";
import { DEADLINE_MS, END, LEASE_MS, type Orders, type Report } from "./stopped/orders.ts";

const { ORIEL_SEED, ORIEL_STOPS = "4" } = process.env;
const seed = Number(ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const stops = Number(ORIEL_STOPS);
const PROCESSES = stops > 4 ? 4 : 2;
const CLIENTS = ["ioredis 6", "ioredis 5", "node-redis 6"] as const;

let server: { primary: RedisServer; stop(): Promise<unknown> };
let folder: string;
beforeAll(async () => {
  server = await startReplicated(1);
  folder = mkdtempSync(join(tmpdir(), "oriel-stopped-"));
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test(`processes stopped ${stops} times for longer than their leases lose and double nothing (seed ${seed})`, {
  timeout: 300_000 + stops * 5000,
}, async () => {
  const random = new Random(seed);
  const { url } = server.primary;
  const client = new Redis(url);
  const store = redisStore(client);
  const database = join(folder, "counts.db");
  const table = new Sqlite(database);
  await sqliteSink(table).createTables(new Counters(store, "d", { dimensions: ["id"], shards: 4 }).shape);
  table.close();
  const modes = Object.fromEntries(
    Object.keys(SHARES).map((name) => [name, random.pick(rowsOf(name as StructureName)).modes]),
  );
  const children = Array.from({ length: PROCESSES }, (_, i) => {
    const scripting = random.pick(["eval", "functions"] as const);
    const orders: Orders = { url, id: i + 1, seed, client: random.pick(CLIENTS), scripting, modes, database };
    return startChild(new URL("./stopped/child.ts", import.meta.url), [JSON.stringify(orders)]);
  });
  await Promise.all(children.map((child) => child.printed(1)));
  for (let i = 0; i < stops; i++) {
    await pause(random.int(10, 200));
    const one = random.pick(children);
    const stopped = children.filter((child) => child === one || random.chance(0.3));
    for (const child of stopped) child.pause();
    await pause(Math.max(DEADLINE_MS, LEASE_MS) + random.int(20, 400));
    for (const child of stopped) child.resume();
  }
  await pause(100);
  await client.publish(END, "");
  await Promise.all(children.map((child) => child.printed(2)));
  const reports = children.map(({ lines }) => JSON.parse(lines[1]!) as Report);
  const names = Object.keys(SHARES).filter((name) => name !== "breaker");
  const done = (name: string) => reports.flatMap((report) => report[name]!.acknowledged).length;
  expect(names.filter((name) => done(name) === 0)).toEqual([]);
  expect(await judge(reports, store, { modes, database })).toEqual([]);
  await Promise.all(children.map(({ ended }) => ended));
  await store.close();
  client.disconnect();
});
