import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixedWindow, Limiter, type StoreEvents, type WatchedStore } from "../../../src/entries/index.ts";
import { type RedisCluster, startCluster } from "../../harness/servers/redis-cluster.ts";
import { until } from "../../harness/until.ts";
import { type HandedIn, storeOn } from "../../store/contract/clients.ts";

/** As long as no machine lets a node that works be silent. */
const DEADLINE_MS = 5000;
/** Of the cluster's nodes, the one that stands still. */
const STANDING = 1;

const ids = Array.from({ length: 60 }, (_, i) => `id${i}`);

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startCluster(3);
  await cluster.nodeTimeout(60_000);
});
afterAll(() => cluster?.stop());

const clients: Record<string, (urls: readonly string[]) => HandedIn> = {
  "ioredis 6": (urls) => {
    const client = new Cluster([...urls], { slotsRefreshTimeout: 3000 });
    client.on("error", () => {});
    return { client, end: () => client.disconnect() };
  },
  "node-redis 6": (urls) => {
    const client = createCluster({ rootNodes: urls.map((url) => ({ url })) });
    client.on("error", () => {});
    return { client, end: () => client.destroy() };
  },
};

test.each(Object.keys(clients))("one node of three stands still: calls to the others continue: %s", async (of) => {
  const given = clients[of]!(cluster.urls);
  const store = storeOn(given, { deadline: DEADLINE_MS }) as WatchedStore;
  const events: [string, StoreEvents["down"] | StoreEvents["up"]][] = [];
  store.on("down", (event) => events.push(["down", event]));
  store.on("up", (event) => events.push(["up", event]));
  const limiter = new Limiter(store, [fixedWindow({ limit: 1e6, span: "1h" })], { name: `one of three ${of}` });
  try {
    await until("it works", async () => {
      const reported = await Promise.allSettled(ids.map((id) => limiter.take(id)));
      return reported.every(({ status }) => status === "fulfilled");
    });
    events.length = 0;
    cluster.nodes[STANDING]!.pause();
    await until("it is down", async () => {
      await Promise.allSettled(ids.map((id) => limiter.take(id)));
      return store.health.state === "down";
    });
    const address = `127.0.0.1:${cluster.nodes[STANDING]!.port}`;
    expect(store.health.address).toBe(address);
    expect(events).toEqual([["down", expect.objectContaining({ address })]]);

    let reported: PromiseSettledResult<unknown>[] = [];
    const refused = () => reported.filter((each) => each.status === "rejected");
    // In a process that stands still, a call asks in place of a probe.
    await until("calls to it fail at once", async () => {
      reported = await Promise.allSettled(ids.map((id) => limiter.take(id)));
      for (const { reason } of refused())
        expect(reason).toMatchObject({ code: "UNAVAILABLE", applied: "no", transient: true });
      return true;
    });
    // A third of the slots, and about a third of the ids.
    expect(refused().length).toBeGreaterThan(ids.length / 6);
    expect(refused().length).toBeLessThan(ids.length / 2);
    for (let times = 0; times < 20; times++)
      for (const [i, id] of ids.entries()) if (reported[i]!.status === "fulfilled") await limiter.take(id);
    expect(events.length).toBe(1);

    cluster.nodes[STANDING]!.resume();
    await until("it is back", () => store.health.state === "up");
    await until("all have their answers", async () => {
      const reported = await Promise.allSettled(ids.map((id) => limiter.take(id)));
      return reported.every(({ status }) => status === "fulfilled");
    });
    expect(events.map(([event, reported]) => [event, reported.address])).toEqual([
      ["down", address],
      ["up", address],
    ]);
  } finally {
    cluster.nodes[STANDING]!.resume();
    await store.close();
    given.end();
  }
});
