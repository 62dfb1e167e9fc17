import { Cluster, Redis } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixedWindow, Limiter, type OrielError } from "../../src/entries/index.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { until } from "../harness/until.ts";
import { type HandedIn, storeOn } from "./contract/clients.ts";

const DEADLINE_MS = 2000;

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startCluster(3);
});
afterAll(() => cluster?.stop());

const clients: Record<string, () => HandedIn> = {
  "ioredis 6": () => {
    const client = new Cluster([...cluster.urls], { clusterRetryStrategy: () => 20 });
    client.on("error", () => {});
    return { client, end: () => client.disconnect() };
  },
  "node-redis 6": () => {
    const defaults = { socket: { reconnectStrategy: () => 20 } };
    const client = createCluster({ rootNodes: cluster.urls.map((url) => ({ url })), defaults });
    client.on("error", () => {});
    client.connect().catch(() => {});
    return { client, end: () => client.destroy() };
  },
};

/** Asks all clients of a node for a password that they do not have, from now on; returns what ends it. */
async function refuse(url: string): Promise<() => Promise<void>> {
  const admin = new Redis(url);
  await admin.call("ACL", "SETUSER", "default", "resetpass", ">another");
  await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
  return async () => {
    await admin.call("ACL", "SETUSER", "default", "nopass");
    admin.disconnect();
  };
}

test.each(Object.keys(clients))("a node that refuses its clients fails only its own keys: %s", async (name) => {
  const given = clients[name]!();
  const store = storeOn(given, { deadline: DEADLINE_MS });
  const limiter = new Limiter(store, [fixedWindow({ limit: 1e6, span: "1h" })], { name: `api ${name}` });
  const ids = Array.from({ length: 30 }, (_, i) => `id${i}`);
  const ask = (id: string) =>
    limiter.take(id).then(
      ({ allowed }) => allowed,
      (error: OrielError) => error,
    );
  try {
    expect(await Promise.all(ids.map(ask))).toEqual(ids.map(() => true));
    const before = await owners(ids, `api ${name}`);
    const end = await refuse(cluster.urls[0]!);
    try {
      // node-redis takes commands for such a node, and loses them with each of its connections.
      const why = name.startsWith("ioredis") ? /NOAUTH|WRONGPASS/ : /NOAUTH|WRONGPASS|the reply was lost/;
      const isRefused = (answer: unknown) => why.test((answer as OrielError).message);
      await until("the reason is named", async () => (await Promise.all(ids.map(ask))).some(isRefused));
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(ids.map(ask));
        for (const [i, answer] of answers.entries()) {
          if (before[i] !== 0) expect([ids[i], answer]).toEqual([ids[i], true]);
          else expect(answer).toMatchObject({ name: "OrielError", code: "UNAVAILABLE" });
        }
        expect(before.filter((owner) => owner === 0).length).toBeGreaterThan(2);
      }
    } finally {
      await end();
    }
    await until("all answer again", async () => (await Promise.all(ids.map(ask))).every((answer) => answer === true));
  } finally {
    await store.close();
    given.end();
  }
});

/** Index of the node of each id's keys. */
function owners(ids: readonly string[], limiter: string): Promise<number[]> {
  return Promise.all(ids.map((id) => cluster.ownerOf(`oriel:{${limiter}:${id}}`)));
}
