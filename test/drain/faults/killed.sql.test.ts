import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import { postgresSink, type Sink } from "../../../src/entries/sql.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type PostgresServer, startPostgres } from "../../harness/servers/postgres.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { watch } from "../../harness/watchdog.ts";
import { Random } from "../../simulator/world/random.ts";

const KILLS = Number(process.env.ORIEL_SEEDS ?? 40);
const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const DRAINER = fileURLToPath(new URL("drainer.mjs", import.meta.url));
const AT = Date.UTC(2026, 2, 29, 0, 55);
const shape = { dimensions: ["site", "lane"], shards: 4 };
const STEPS = ["counter/freeze", "counter/page", "BEGIN", "INSERT", "COMMIT", "counter/acknowledge", "counter/sweep"];

let redis: RedisServer;
let postgres: PostgresServer;
let pool: pg.Pool;
let flow: Counters;
let sink: Sink;
let name: string;
let names = 0;
let produced: bigint;
const reported: string[] = [];
beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis({ tcp: true }), startPostgres()]);
  pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
});
beforeEach(async () => {
  name = `killed ${++names}`;
  flow = new Counters(store, name, shape);
  sink = postgresSink(pool);
  await sink.createTables(flow.shape);
  produced = 0n;
  reported.length = 0;
});
let store: ReturnType<typeof redisStore>;
beforeAll(() => {
  store = redisStore(redis.url);
});
afterAll(async () => {
  await store?.close();
  await pool?.end();
  await Promise.all([redis?.stop(), postgres?.stop()]);
});

async function produce(random: Random): Promise<void> {
  const events = Array.from({ length: 20 }, () => random.int(1, 3));
  await Promise.all(
    events.map((count) =>
      flow.add(
        { site: random.pick(["S1", "S2", "S3"]), lane: random.pick(["1", "2", "3"]) },
        { count, at: AT + random.int(0, 600_000) },
      ),
    ),
  );
  for (const count of events) produced += BigInt(count);
}

/** A drainer that is ready; its words go into `reported`. */
async function startDrainer(step: string) {
  const child = spawn(process.execPath, [DRAINER, redis.url, postgres.url, JSON.stringify({ name, ...shape }), step], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  watch(child);
  const ready = new Promise<void>((resolve) => {
    createInterface(child.stdout).on("line", (line) => (line === "ready" ? resolve() : reported.push(line)));
  });
  const closed = once(child, "close");
  await Promise.race([ready, closed]);
  return { closed, kill: () => child.kill("SIGKILL") };
}

async function expectExact(): Promise<void> {
  const sum = (rows: readonly { count: bigint }[]) => rows.reduce((all, { count }) => all + count, 0n);
  const table: bigint[] = [];
  for (const bucket of ["minute", "hour", "day"] as const) {
    expect(sum(await flow.read({ bucket, table: sink, bigint: true })), `seed ${seed}`).toBe(produced);
    table.push(sum((await sink.read(flow.shape, { bucket })).rows));
  }
  const ledger = (await sink.ledger(flow.shape)).reduce((all, { events }) => all + events, 0n);
  expect(table, `seed ${seed}`).toEqual([ledger, ledger, ledger]);
}

test.each(STEPS.flatMap((step) => [`${step} before`, `${step} after`]))(
  "a drain is killed at: %s; the next one changes no total",
  async (step) => {
    const random = new Random(seed);
    for (let round = 0; round < 2; round++) {
      await produce(random);
      const drainer = await startDrainer(step);
      await drainer.closed; // it kills itself
      await expectExact();
    }
    await new DrainService({ counters: flow, sink }).drainOnce();
    await expectExact();
    expect(await flow.read()).toEqual([]);
    expect(reported).toEqual([]);
  },
);

test(`drains killed at ${KILLS} random moments under load change no total (seed ${seed})`, {
  timeout: 300_000 + KILLS * 3000,
}, async () => {
  const random = new Random(seed);
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      await produce(random);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  // Two at a time, as where one believes that the other is gone.
  const kill = async (own: Random, kills: number) => {
    for (let i = 0; i < kills; i++) {
      const drainer = await startDrainer("");
      await new Promise((resolve) => setTimeout(resolve, own.int(0, 120)));
      drainer.kill();
      await drainer.closed;
    }
  };
  await Promise.all([kill(random.fork(), Math.ceil(KILLS / 2)), kill(random.fork(), Math.floor(KILLS / 2))]);
  isOver = true;
  await load;
  await expectExact();
  await new DrainService({ counters: flow, sink }).drainOnce();
  await expectExact();
  expect(await flow.read()).toEqual([]);
  expect(reported.filter((line) => line.includes("diverged"))).toEqual([]);
});
