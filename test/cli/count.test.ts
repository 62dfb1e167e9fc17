import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Counters } from "../../src/counter/counters.ts";
import { redisStore } from "../../src/store/redis.ts";
import { type RedisServer, startRedis } from "../harness/redis-server.ts";
import { watch } from "../harness/watchdog.ts";
import { Random } from "../simulator/random.ts";
import { command } from "./command.ts";

const BUILT = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
let server: RedisServer;
let raw: Redis;
let store: ReturnType<typeof redisStore>;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
  store = redisStore(server.url);
});
beforeEach(() => raw.flushall());
afterAll(async () => {
  await store?.close();
  raw?.disconnect();
  await server?.stop();
});

const flow = () => new Counters(store, "flow", { dimensions: ["site", "lane"], shards: 8 });
const sum = (rows: readonly { count: bigint }[]) => rows.reduce((all, { count }) => all + count, 0n);
const args = (...more: string[]) => [
  ...["count", "--redis", server.url, "--stream", "flow", "--group", "g", "--dimensions", "site,lane", "--shards", "8"],
  ...more,
];

test("counts what stands in the entries, by their times, and tells what it cannot read", async () => {
  await raw.xadd("flow", "1000-1", "site", "a", "lane", "1", "n", "3", "ms", "7200000");
  await raw.xadd("flow", "1000-2", "site", "a", "lane", "1", "n", "4", "ms", "7260000");
  await raw.xadd("flow", "1000-3", "site", "b", "n", "1", "ms", "7200000");
  await raw.xadd("flow", "1000-4", "site", "b", "lane", "", "n", "none", "ms", "7200000");
  const { status, stdout, stderr } = await command(args("--once", "--count", "n", "--at", "ms"));
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(
      /^oriel count: entry 1000-3: lane is undefined.*\noriel count: entry 1000-4: count is NaN.*\n$/,
    ),
  });
  expect(stdout).toMatch(
    /^oriel count: w0 of g counts flow as flow\noriel count: 2 entries counted, 2 could not be read\n$/,
  );
  expect((await flow().read()).map(({ startMs, count }) => [startMs, count])).toEqual([
    [7_200_000, 3n],
    [7_260_000, 4n],
  ]);
  expect(await raw.xpending("flow", "g")).toEqual([0, null, null, null]);
  const again = await command(args("--once"));
  expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining("0 entries counted") });
});

test.each([
  [["count", "--redis", "redis://127.0.0.1:1"], /required option '--stream <key>' not specified/],
  [
    ["count", "--redis", "redis://127.0.0.1:1", "--stream", "s", "--group", "g", "--dimensions", "1x"],
    /ARGUMENT dimensions is "1x"/,
  ],
  [
    ["count", "--redis", "redis://127.0.0.1:1", "--stream", "s", "--group", "g", "--dimensions", "a", "--shards", "0"],
    /ARGUMENT shards is 0/,
  ],
])("refuses %j", async (argv, message) => {
  expect(await command(argv)).toMatchObject({ status: 2, stderr: expect.stringMatching(message) });
});

test(`workers that are killed at any moment change no total (seed ${seed})`, { timeout: 120_000 }, async () => {
  const random = new Random(seed);
  const workers = new Set<ChildProcess>();
  const start = () => {
    const child = spawn(process.execPath, [BUILT, ...args()], { stdio: "ignore" });
    watch(child);
    workers.add(child);
  };
  for (let i = 0; i < 3; i++) start();
  let added = 0;
  for (let round = 0; round < 12; round++) {
    for (let batch = 0; batch < 10; batch++) {
      const pipeline = raw.pipeline();
      for (let i = 0; i < 200; i++) pipeline.xadd("flow", "*", "site", `S${random.int(1, 40)}`, "lane", `${i % 3}`);
      await pipeline.exec();
      added += 200;
      await new Promise((resolve) => setTimeout(resolve, random.int(0, 30)));
    }
    const killed = random.pick([...workers]);
    workers.delete(killed);
    killed.kill("SIGKILL");
    start();
  }
  const last = await command(args("--once"));
  expect(last.status, `seed ${seed}: ${last.stderr}`).toBe(0);
  for (const worker of workers) {
    const closed = once(worker, "close");
    worker.kill("SIGTERM");
    await closed;
  }
  expect(sum(await flow().read()), `seed ${seed}`).toBe(BigInt(added));
});
