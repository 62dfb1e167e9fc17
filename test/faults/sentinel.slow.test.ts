import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type SentinelRedis, startSentinel } from "../harness/servers/sentinel.ts";
import { until } from "../harness/until.ts";
import { Scene } from "./scene.ts";

let redis: SentinelRedis;
let raw: Redis;
beforeEach(async () => {
  redis = await startSentinel(1);
  raw = connect();
});
afterEach(async () => {
  raw?.disconnect();
  await redis?.stop();
});

function connect(): Redis {
  const client = new Redis({ ...redis.address, sentinelRetryStrategy: () => 50, retryStrategy: () => 50 });
  client.on("error", () => {});
  return client;
}

function open(scene: Scene) {
  const client = connect();
  scene.atEnd(() => client.disconnect());
  return scene.open(client, { deadline: 1000 });
}

/** Kills the primary and waits until the sentinels have made the replica the primary. */
async function failOver(): Promise<void> {
  await redis.primary.kill();
  await redis.downAfter(300);
  await until("the replica is promoted", async () => (await redis.primaryUrl()) !== redis.primary.url);
  await until("it takes writes", async () => {
    const url = await redis.primaryUrl();
    const client = new Redis(url);
    const role = await client.role();
    client.disconnect();
    return role[0] === "master";
  });
}

test("the primary is killed under load: the replica takes over, and lost events are reported", async () => {
  const scene = new Scene("killed");
  const writers = [open(scene), open(scene)];
  const loads = writers.map((writer) => scene.load(writer));
  await scene.progress(200);
  await failOver();
  await scene.progress(200);
  await Promise.all(loads.map((load) => load.stop()));
  const client = connect();
  const missing = await scene.settle(client, raw, { mayLose: true });
  const reported = await Promise.all(writers.map(async (writer) => (await writer.stats()).degradedBy));
  expect(reported.includes("lost")).toBe(missing.length > 0);
  await scene.close();
  client.disconnect();
});

test("events that the replica never had: processes that saw them report it; with `replicas: 1` none was acknowledged", async () => {
  const [scene, safe] = [new Scene("lost tail"), new Scene("safe", { replicas: 1 })];
  const [writer, reader, onlooker] = [open(scene), open(scene), open(scene)];
  const careful = open(safe);
  for (let i = 0; i < 5; i++) {
    expect(await scene.record(writer, 3)).toBe(true);
    expect(await safe.record(careful, 3)).toBe(true);
  }
  expect((await onlooker.stats()).count).toBe(15);

  // The replica stands still and its link is cut: what is written now is in the primary only.
  redis.replicas[0]!.pause();
  await raw.call("CLIENT", "KILL", "TYPE", "replica");
  expect(await scene.record(writer, 4)).toBe(true);
  expect((await reader.stats()).count).toBe(19);
  expect(await safe.record(careful, 4)).toBe(false);
  expect(safe.ledger.failures).toMatchObject([{ applied: "unknown", transient: true }]);
  await redis.primary.kill();
  redis.replicas[0]!.resume();
  await failOver();

  const client = connect();
  expect(await scene.settle(client, raw, { mayLose: true })).toHaveLength(4);
  expect(await safe.settle(client, raw)).toEqual([]);
  for (const who of [writer, reader]) expect(await who.stats()).toMatchObject({ degradedBy: "lost", count: 15 });
  // A process that never saw the event cannot know. A window that begins after the loss is complete.
  expect(await onlooker.stats()).toMatchObject({ degraded: false, count: 15 });
  await Promise.all([scene.close(), safe.close()]);
  client.disconnect();
});
