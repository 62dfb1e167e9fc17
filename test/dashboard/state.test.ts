import { expect, it } from "vitest";
import { targetOf } from "../../src/counters/counter/counters.ts";
import type { CounterShape } from "../../src/counters/counter/table.ts";
import type { DrainBatch } from "../../src/counters/drain/sql/sink.ts";
import { Counters, DrainService, memoryStore } from "../../src/entries/index.ts";
import { dashboard } from "../../src/operate/dashboard/dashboard.ts";
import type { DashboardOptions } from "../../src/operate/dashboard/options.ts";
import type { RowNumbers } from "../../src/operate/dashboard/protocol.ts";
import { TableSink } from "../fuzz/table-sink.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { type Answer, entryOf, get, json, sceneOn } from "./scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

class FillingSink extends TableSink {
  isFull = false;
  override async apply(shape: CounterShape, batch: DrainBatch) {
    if (this.isFull) throw new Error("the disk is full");
    return super.apply(shape, batch);
  }
}

it("counters have their lag, and say if shards do not match their table", async () => {
  const url = (await redis()).url;
  const { store, announced } = sceneOn(url);
  const counters = new Counters(store, "clicks", { dimensions: ["page"], shards: 1 });
  const sink = new FillingSink();
  const drain = () => new DrainService({ counters, sink }).drainOnce();
  await counters.add({ page: "p" });
  await announced(1);
  const row = async (options: DashboardOptions = { sinks: () => sink }) => {
    const board = dashboard(store, options);
    const { id } = await entryOf(board, "Counters", "clicks");
    return (await json<Record<string, RowNumbers>>(get(board, "api/rank")))[id];
  };
  expect(await row()).toEqual({ lag: null, state: "", isBad: false }); // no drain has begun
  await drain();
  expect(await row()).toEqual({ lag: 0, state: "", isBad: false });
  sink.isFull = true;
  await counters.add({ page: "p" });
  const beforeMs = performance.now();
  await drain();
  await until("there is a lag", async () => (await row())!.lag! > 0);
  expect((await row())!.lag).toBeLessThan(performance.now() - beforeMs + 50);
  sink.isFull = false;
  // The table goes on without the store, as after a restore of an old snapshot of Redis.
  const batch = { shard: 0, generation: 2, nonce: "another", fence: 1e15, events: 1n, rows: [] };
  expect(await sink.apply(counters.shape, batch)).toEqual({ status: "applied" });
  expect(await row()).toMatchObject({ state: "1 diverged", isBad: true });
  expect(await row({})).toMatchObject({ state: "", isBad: false });
  const raw = new RespConnection(url);
  await raw.send([["SET", targetOf(counters).keys[0]!, "no shard"]]);
  raw.close();
  expect(await row({})).toMatchObject({ state: "1 damaged", isBad: true });
  await counters.close().catch(() => {});
});

/** The text that answers a command. */
async function askedOf(raw: RespConnection, ...command: string[]): Promise<string> {
  const [answer] = await raw.send([command]);
  return String((answer as { bulk: Buffer }).bulk);
}

it("the health has the memory, the eviction and the persistence of INFO", async () => {
  const server = await startRedis({ tcp: true });
  atEnd(() => server.stop());
  const raw = new RespConnection(server.url);
  atEnd(() => raw.close());
  const fieldOf = async (name: string) => new RegExp(`^${name}:(.*?)\r?$`, "m").exec(await askedOf(raw, "INFO"))![1]!;
  const nodeOf = async () => {
    const { store } = sceneOn(server.url);
    const { health } = await json<Answer>(get(dashboard(store), "api/overview"));
    expect(health.nodes.length).toBe(1);
    return health.nodes[0]!;
  };
  const bare = await nodeOf();
  expect(bare).toMatchObject({ maxBytes: null, eviction: "noeviction", persistence: "snapshots or none" });
  expect(bare.server).toContain(await fieldOf("redis_version"));
  const usedBytes = Number(await fieldOf("used_memory"));
  expect(Math.abs(bare.usedBytes! - usedBytes)).toBeLessThan(usedBytes / 2);
  await raw.send([["CONFIG", "SET", "maxmemory", "123456789"]]);
  await raw.send([["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]]);
  await raw.send([["CONFIG", "SET", "appendonly", "yes"]]);
  await raw.send([["SET", "large", "x".repeat(5_000_000)]]);
  const full = await nodeOf();
  expect(full).toMatchObject({ maxBytes: 123_456_789, eviction: "allkeys-lru", persistence: "append-only file" });
  expect(full.usedBytes! - bare.usedBytes!).toBeGreaterThan(4_900_000);
});

it("the health has the server's clock less this one, and the time of a round trip", async () => {
  const { store } = sceneOn((await redis()).url); // its clock is that of this process
  const ahead = memoryStore({ clock: () => Date.now() + 90_000 });
  for (const [own, truthMs] of [[store, 0] as const, [ahead, 90_000] as const]) {
    const beganMs = Date.now();
    const { latencyMs, offsetMs } = (await json<Answer>(get(dashboard(own), "api/overview"))).health;
    const tookMs = Date.now() - beganMs; // both clocks are read within it, whenever the process is stopped
    expect(latencyMs).toBeGreaterThan(0);
    expect(latencyMs).toBeLessThan(tookMs + 2);
    expect(Math.abs(offsetMs! - truthMs)).toBeLessThan(tookMs + 2);
  }
});
