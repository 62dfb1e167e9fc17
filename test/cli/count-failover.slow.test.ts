import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Cluster, Redis } from "ioredis";
import { afterEach, expect, test } from "vitest";
import { StreamGroup } from "../../src/command/stream-group.ts";
import { Counters } from "../../src/counters/counter/counters.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { until } from "../harness/until.ts";
import { watch } from "../harness/watchdog.ts";
import { command } from "./command.ts";

const BUILT = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const REPORTED = "of 1 replicas have the entries";
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const counting = (redis: string, name: string) => [
  ...["count", "--redis", redis, "--stream", "flow", "--group", "g", "--name", name],
  ...["--dimensions", "site,lane", "--shards", "1"],
];

async function open(primaries: number): Promise<{ cluster: RedisCluster; raw: Cluster }> {
  const cluster = await startCluster(primaries, 2);
  const raw = new Cluster([...cluster.urls], { clusterRetryStrategy: () => 50 });
  raw.on("error", () => {});
  ends.push(
    () => cluster.stop(),
    () => raw.disconnect(),
  );
  return { cluster, raw };
}

/** The stream's primary, and what befalls it. */
async function primaryOf(cluster: RedisCluster, stream: string) {
  const index = await cluster.ownerOf(stream);
  const connect = (node: number) => {
    const client = new Redis(cluster.nodes[node]!.url);
    client.on("error", () => {});
    ends.push(() => client.disconnect());
    return client;
  };
  const client = connect(index);
  const found = (await client.info("replication")).matchAll(/slave\d+:ip=[^,]*,port=(\d+)/g);
  const replicas = [...found].map(([, port]) => cluster.nodes.findIndex((node) => node.port === Number(port)));
  expect(replicas).toHaveLength(2);
  return {
    index,
    client,
    /** Nothing that is written from now on will reach the replicas. */
    async cutOff() {
      for (const replica of replicas) cluster.nodes[replica]!.pause();
      await client.call("CLIENT", "KILL", "TYPE", "replica");
    },
    /** It is killed; a replica takes over, and the other one follows it. */
    async replace() {
      await cluster.nodes[index]!.kill();
      for (const replica of replicas) cluster.nodes[replica]!.resume();
      const next = connect(replicas[0]!);
      await cluster.failover(replicas[0]!, "TAKEOVER");
      await until("the other follows", async () => /slave0:.*state=online/.test(await next.info("replication")));
    },
  };
}

test("a delivery that no replica has is not acknowledged, and the next primary delivers it again", async () => {
  const { cluster } = await open(1);
  const primary = await primaryOf(cluster, "flow");
  const [w0, w1] = [0, 1].map(() => new StreamGroup({ redis: cluster.urls.join(",") }, "flow", "g", 1)) as [
    StreamGroup,
    StreamGroup,
  ];
  ends.push(
    () => w0.close(),
    () => w1.close(),
  );
  const { signal } = new AbortController();
  await w0.open(signal);
  await w1.open(signal);
  for (let i = 0; i < 100; i++) await primary.client.xadd("flow", "*", "site", `S${i}`);
  expect(await primary.client.wait(2, 10_000)).toBe(2);
  await primary.cutOff();
  expect(await w0.fetch(false)).toBe(true);
  await expect(w0.pending("w0")).rejects.toThrow(`0 ${REPORTED} delivered to w0`);
  await primary.replace();
  await until("the next primary answers", () => w1.fetch(false));
  await until("a replica has it", async () => (await w1.pending("w1")).length === 100);
  await until("it is found", async () => (await w0.pending("w0")).length === 0);
});

test("the stream's primary is killed with entries that no replica had: each remaining entry counts once", async () => {
  const { cluster, raw } = await open(2);
  const primary = await primaryOf(cluster, "flow");
  const name = await nameElsewhere(cluster, primary.index);
  const redis = cluster.urls.join(",");
  const args = [...counting(redis, name), "--replicas", "1"];
  const store = redisStore(raw, { deadline: 5000 });
  const flow = new Counters(store, name, { dimensions: ["site", "lane"], shards: 1 });
  const counted = async () => (await flow.read({ bigint: true })).reduce((all, { count }) => all + count, 0n);
  let reported = "";
  const workers: { child: ChildProcess; closed: Promise<unknown> }[] = [];
  const start = () => {
    const child = spawn(process.execPath, [BUILT, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    watch(child);
    child.stderr.on("data", (chunk) => {
      reported += chunk;
    });
    workers.push({ child, closed: once(child, "close") });
  };
  const add = produce(raw);
  ends.push(() => add.stop());
  start();
  start();
  await until("they count", async () => (await counted()) > 3000n);
  await primary.cutOff();
  const before = (await counted()) + 3000n; // more than was given out, and not yet counted
  workers.shift()!.child.kill("SIGKILL");
  start();
  await until("they find it out", async () => reported.includes(REPORTED) || (await counted()) > before);
  await primary.replace();
  const after = await counted();
  await until("it goes on", async () => (await counted()) > after + 3000n);
  await add.stop();

  const last = await command([...args, "--once"]);
  expect(last.status, last.stderr).toBe(0);
  for (const { child, closed } of workers) {
    child.kill("SIGTERM");
    expect(await closed).toEqual([0, null]);
  }
  expect(await talliesOf(flow)).toEqual(await talliesIn(raw));
  expect(reported).toContain(REPORTED);
});

test("a worker that starts while the cluster is down waits until it is up, or until it is stopped", async () => {
  const cluster = await startCluster(1);
  ends.push(() => cluster.stop());
  const node = new Redis(cluster.url);
  ends.push(() => node.disconnect());
  const state = async () => /cluster_state:(\w+)/.exec(String(await node.cluster("INFO")))![1];
  const redis = `${cluster.url},${cluster.url}`; // as a cluster's
  await node.cluster("DELSLOTS", 0);
  await until("it is down", async () => (await state()) === "fail");
  const asked = async () => Number(/cluster\|slots:calls=(\d+)/.exec(await node.info("commandstats"))?.[1] ?? 0);
  const tried = (times: number) => until("it tries again", async () => (await asked()) >= times);

  const reported = spawn(process.execPath, [BUILT, ...counting(redis, "c"), "--once"], { stdio: "ignore" });
  watch(reported);
  const closed = once(reported, "close");
  await tried(8); // by its three clients, so twice by one of them
  reported.kill("SIGTERM");
  expect(await closed).toEqual([0, null]);

  const stays = new StreamGroup({ redis }, "flow", "g", 0);
  ends.push(() => stays.close());
  const opened = stays.open(new AbortController().signal);
  await tried((await asked()) + 6);
  await node.cluster("ADDSLOTS", 0);
  await opened;
  expect(stays.consumer).toBe("w0");
});

/** Adds entries for as long as it is not stopped, whatever becomes of them. */
function produce(raw: Cluster): { stop(): Promise<void> } {
  let isOver = false;
  const run = (async () => {
    for (let i = 0; !isOver; ) {
      const pipeline = raw.pipeline();
      for (const end = i + 50; i < end; i++) pipeline.xadd("flow", "*", "site", `S${i % 7}`, "lane", `${i % 3}`);
      await pipeline.exec().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    stop() {
      isOver = true;
      return run;
    },
  };
}

async function nameElsewhere(cluster: RedisCluster, primary: number): Promise<string> {
  for (let i = 0; ; i++) if ((await cluster.ownerOf(`oriel:{c${i}:0}:counts`)) !== primary) return `c${i}`;
}

async function talliesOf(flow: Counters): Promise<Map<string, bigint>> {
  const tallies = new Map<string, bigint>();
  for (const { values, count } of await flow.read({ bigint: true })) {
    const text = Object.values(values).join();
    tallies.set(text, (tallies.get(text) ?? 0n) + count);
  }
  return sorted(tallies);
}

async function talliesIn(raw: Cluster): Promise<Map<string, bigint>> {
  const tallies = new Map<string, bigint>();
  for (const [, [, site, , lane]] of await raw.xrange("flow", "-", "+"))
    tallies.set(`${site},${lane}`, (tallies.get(`${site},${lane}`) ?? 0n) + 1n);
  return sorted(tallies);
}

function sorted(tallies: Map<string, bigint>): Map<string, bigint> {
  return new Map([...tallies].sort(([a], [b]) => (a < b ? -1 : 1)));
}
