import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FoundServer, findServers } from "../../scripts/servers/find.mjs";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { startReplicated } from "../harness/servers/replicas.ts";
import { until } from "../harness/until.ts";
import { reportOf } from "./report-of.ts";

let server: RedisServer;
let raw: Redis;
beforeAll(async () => {
  server = await startRedis({ tcp: true, args: ["--appendonly", "yes", "--appendfsync", "no"] });
  raw = new Redis(server.url);
});
afterAll(async () => {
  raw?.disconnect();
  await server?.stop();
});

test("a well configured server is good, and no key changes", async () => {
  await raw.set("mine", "1");
  await raw.set("oriel:{mine}", "2");
  const { status, report, findings, check } = await reportOf(server.url);
  expect(findings).toEqual({});
  expect({ status, verdict: report.verdict, mode: report.mode }).toEqual({
    status: 0,
    verdict: "good",
    mode: "single",
  });
  const version = /redis_version:(\S+)/.exec(await raw.info("server"))![1];
  expect(report.server).toMatchObject({ redisVersion: version });
  expect(report.address).toBe(`127.0.0.1:${server.port}`);
  expect(report.checks.map(({ name }) => name)).toEqual([
    ...["connection", "version", "mode", "writes", "memory", "eviction", "persistence", "scripts", "undeclared"],
    ...["slots", "functions", "arguments", "messages", "rights", "clock", "latency", "steps", "kernel"],
  ]);
  expect(check("clock").facts!.offsetMs).toBeLessThan(1000);
  expect(check("latency").facts!.medianMs).toBeGreaterThanOrEqual(check("latency").facts!.minMs as number);
  expect((await raw.keys("*")).sort()).toEqual(["mine", "oriel:{mine}"]);
  expect(await raw.mget("mine", "oriel:{mine}")).toEqual(["1", "2"]);
});

test("settings that lose data are named, with what to change", async () => {
  await raw.config("SET", "maxmemory-policy", "allkeys-lru");
  await raw.config("SET", "appendonly", "no");
  await raw.config("SET", "maxmemory", 3_000_000);
  try {
    const { status, findings, check } = await reportOf(server.url);
    expect(status).toBe(1);
    expect(findings).toMatchObject({ eviction: "degraded", persistence: "degraded" });
    expect(check("eviction")).toMatchObject({
      text: expect.stringMatching(
        /^maxmemory-policy is allkeys-lru: .* events, locks, permits, counts and messages; it should be noeviction$/,
      ),
      advice: expect.stringContaining("CONFIG SET maxmemory-policy noeviction"),
    });
    expect(check("persistence").text).toMatch(/^appendonly is no: /);
    expect(check("memory").facts).toMatchObject({ maxBytes: 3_000_000 });
  } finally {
    await raw.config("SET", "maxmemory", 0);
    await raw.config("SET", "maxmemory-policy", "noeviction");
    await raw.config("SET", "appendonly", "yes");
  }
});

test("a full server refuses the write, and the report says so", async () => {
  await raw.config("SET", "maxmemory", 1);
  try {
    const { status, check, findings } = await reportOf(server.url);
    expect(status).toBe(2);
    expect(findings).toMatchObject({ writes: "unusable", memory: "degraded", steps: "unusable" });
    expect(check("writes").text).toMatch(/memory/);
  } finally {
    await raw.config("SET", "maxmemory", 0);
  }
});

test("a replica is named with its primary, and a primary with its replicas", async () => {
  const { primary, replicas, stop } = await startReplicated(1);
  try {
    const replica = await reportOf(replicas[0]!.url);
    expect(replica).toMatchObject({ status: 2, report: { mode: "replica" } });
    expect(replica.check("mode")).toMatchObject({
      text: `a replica of 127.0.0.1:${primary.port} (link up), which takes no writes`,
      advice: "Use the primary's address.",
    });
    const { check } = await reportOf(primary.url);
    expect(check("mode")).toMatchObject({ verdict: "good", facts: { replicas: 1, hasSentinel: false } });
  } finally {
    await stop();
  }
});

test("a cluster is examined from one node, and all primaries' settings are", async () => {
  const cluster = await startCluster(3);
  const last = new Redis(cluster.urls[2]!);
  try {
    await last.config("SET", "maxmemory-policy", "volatile-ttl");
    const { status, report, check, findings } = await reportOf(cluster.url);
    expect({ status, mode: report.mode }).toEqual({ status: 1, mode: "cluster" });
    expect(findings).toEqual({ mode: "note", eviction: "degraded", persistence: "degraded" });
    expect(check("mode").text).toMatch(/^a cluster of 3 primaries, all slots served/);
    expect(check("eviction").text).toMatch(
      new RegExp(`^127.0.0.1:${cluster.nodes[2]!.port}: maxmemory-policy is volatile-ttl`),
    );
    for (const url of cluster.urls) {
      const node = new Redis(url);
      expect(await node.keys("*")).toEqual([]);
      node.disconnect();
    }
    // The first node of the list does not answer.
    const refused = "redis://127.0.0.1:1";
    expect((await reportOf(`${refused},${cluster.urls[1]}`)).report.mode).toBe("cluster");
    await last.call("CLUSTER", "DELSLOTS", "16383");
    const slotCalls = async () => /cluster\|slots:calls=(\d+)/.exec(await last.info("commandstats"))?.[1];
    const before = await slotCalls();
    const examined = reportOf(cluster.urls[2]!);
    await until("its mode is known", async () => (await slotCalls()) !== before);
    // Otherwise the steps would be tried until the deadline.
    await last.call("CLUSTER", "ADDSLOTS", "16383");
    expect((await examined).check("mode")).toMatchObject({
      verdict: "unusable",
      text: expect.stringContaining("state fail"),
    });
  } finally {
    last.disconnect();
    await cluster.stop();
  }
});

describe.each(findServers())("on $name", (found) => {
  test.runIf("path" in found)("its name and version, and nothing is missing", async () => {
    const { path, product, version } = found as FoundServer;
    const { url, stop } = await startRedis({ tcp: true, server: path });
    try {
      const { status, report, findings } = await reportOf(url);
      expect(report.server!.product.toLowerCase()).toBe(product.toLowerCase());
      expect(report.server!.version).toBe(version);
      expect({ status, findings }).toEqual({ status: 1, findings: { persistence: "degraded" } });
    } finally {
      await stop();
    }
  });
});
