import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Counters } from "../../src/counters/counter/counters.ts";
import type { Store } from "../../src/store/contract.ts";
import { slotOf } from "../../src/store/keys.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { watch } from "../harness/watchdog.ts";
import { Random } from "../simulator/world/random.ts";
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

const flow = (store: Store) => new Counters(store, "flow", { dimensions: ["site", "lane"], shards: 8 });
test("entries without an added field have its empty value", async () => {
  await raw.config("SET", "appendonly", "yes");
  await raw.xadd("flow", "1000-1", "site", "a", "lane", "1");
  expect((await command(args(server.url, "--once"))).status).toBe(0);
  await raw.xadd("flow", "1000-2", "site", "a", "lane", "1");
  await raw.xadd("flow", "1000-3", "site", "a", "lane", "1", "colour", "red");
  expect((await command(args(server.url, "--once", "--added-dimensions", "colour"))).status).toBe(0);
  const options = { dimensions: ["site", "lane"], addedDimensions: ["colour"], shards: 8 } as const;
  const rows = await new Counters(store, "flow", options).read();
  expect(rows.map(({ values, count }) => `${values.colour} ${count}`)).toEqual([" 2", "red 1"]);
});

const sum = (rows: readonly { count: bigint }[]) => rows.reduce((all, { count }) => all + count, 0n);
const args = (redis: string, ...more: string[]) => [
  ...["count", "--redis", redis, "--stream", "flow", "--group", "g", "--dimensions", "site,lane", "--shards", "8"],
  ...more,
];

test("counts the entries by their times, and reports unreadable ones", async () => {
  await raw.config("SET", "appendonly", "yes");
  await raw.xadd("flow", "1000-1", "site", "a", "lane", "1", "n", "3", "ms", "7200000");
  await raw.xadd("flow", "1000-2", "site", "a", "lane", "1", "n", "4", "ms", "7260000");
  await raw.xadd("flow", "1000-3", "site", "b", "n", "1", "ms", "7200000");
  await raw.xadd("flow", "1000-4", "site", "b", "lane", "", "n", "none", "ms", "7200000");
  const { status, stdout, stderr } = await command(args(server.url, "--once", "--count", "n", "--at", "ms"));
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(
      /^oriel count: entry 1000-3: Counters "flow" check: lane is undefined.*\n.*entry 1000-4: .* count is NaN.*\n$/,
    ),
  });
  expect(stdout).toMatch(
    /^oriel count: w0 of g counts flow as flow\noriel count: 2 entries counted, 2 could not be read\n$/,
  );
  expect((await flow(store).read()).map(({ startMs, count }) => [startMs, count])).toEqual([
    [7_200_000, 3],
    [7_260_000, 4],
  ]);
  expect(await raw.xpending("flow", "g")).toEqual([0, null, null, null]);
  const again = await command(args(server.url, "--once"));
  expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining("0 entries counted") });
});

test("warns once if the server has no append-only file", async () => {
  await raw.config("SET", "appendonly", "no");
  await raw.xadd("flow", "*", "site", "a", "lane", "1");
  const { status, stderr } = await command(args(server.url, "--once"));
  expect(status).toBe(0);
  expect(stderr).toMatch(/^oriel count: appendonly is no: .*\n$/);
});

test.each([
  [["count", "--redis", "redis://127.0.0.1:1"], /required option '--stream <key>' not specified/],
  [
    ["count", "--redis", "redis://127.0.0.1:1", "--stream", "s", "--group", "g", "--dimensions", "1x"],
    /ARGUMENT Counters "s": dimensions is "1x"/,
  ],
  [
    ["count", "--redis", "redis://127.0.0.1:1", "--stream", "s", "--group", "g", "--dimensions", "a", "--shards", "0"],
    /ARGUMENT Counters "s": shards is 0/,
  ],
  [
    ["count", "--redis", "redis://127.0.0.1:1,redis://:", "--stream", "s", "--group", "g", "--dimensions", "a"],
    /ARGUMENT --redis is no URL .*it must be redis:/,
  ],
  [
    [
      ...["count", "--redis", "redis://127.0.0.1:1,redis://127.0.0.1:2"],
      "--stream",
      "s",
      "--group",
      "g",
      "--dimensions",
      "a",
    ],
    /^oriel: /,
  ],
])("refuses %j", async (argv, message) => {
  expect(await command(argv)).toMatchObject({ status: 2, stderr: expect.stringMatching(message) });
});

/** Three workers under load, of which one is killed and replaced in every round; what they counted in the end. */
async function countUnderKills(raw: Redis | Cluster, redis: string, rounds: number, trouble?: () => Promise<void>) {
  const random = new Random(seed);
  const workers = new Set<ChildProcess>();
  const start = () => {
    const child = spawn(process.execPath, [BUILT, ...args(redis)], { stdio: "ignore" });
    watch(child);
    workers.add(child);
  };
  for (let i = 0; i < 3; i++) start();
  for (let round = 0; round < rounds; round++) {
    for (let batch = 0; batch < 10; batch++) {
      const pipeline = raw.pipeline();
      for (let i = 0; i < 200; i++) pipeline.xadd("flow", "*", "site", `S${random.int(1, 40)}`, "lane", `${i % 3}`);
      await pipeline.exec();
      await new Promise((resolve) => setTimeout(resolve, random.int(0, 30)));
      if (batch === 5 && round === 1) await trouble?.();
    }
    const killed = random.pick([...workers]);
    workers.delete(killed);
    killed.kill("SIGKILL");
    start();
  }
  const last = await command(args(redis, "--once"));
  expect(last.status, `seed ${seed}: ${last.stderr}`).toBe(0);
  for (const worker of workers) {
    // A worker that ended by itself closes no second time.
    expect(worker.exitCode, `seed ${seed}`).toBeNull();
    const closed = once(worker, "close");
    worker.kill("SIGTERM");
    await closed;
  }
  return BigInt(await raw.xlen("flow"));
}

test(`workers killed at any moment change no total (seed ${seed})`, async () => {
  const added = await countUnderKills(raw, server.url, 12);
  expect(sum(await flow(store).read({ bigint: true })), `seed ${seed}`).toBe(added);
});

test(`workers killed on a cluster while the stream's slot moves change no total (seed ${seed})`, async () => {
  const cluster = await startCluster(3);
  const client = new Cluster([...cluster.urls]);
  try {
    const owner = await cluster.ownerOf("flow");
    const move = () => cluster.moveSlot(slotOf("flow"), (owner + 1) % 3);
    const added = await countUnderKills(client, cluster.urls.join(","), 5, move);
    expect(await cluster.ownerOf("flow")).not.toBe(owner);
    expect(sum(await flow(redisStore(client)).read({ bigint: true })), `seed ${seed}`).toBe(added);
    for (const node of client.nodes("master")) expect(await node.keys("*:counts")).not.toEqual([]);
  } finally {
    client.disconnect();
    await cluster.stop();
  }
});
