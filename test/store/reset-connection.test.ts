import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { Counters } from "../../src/entries/index.ts";
import type { NodeRedisClient, NodeRedisCluster } from "../../src/store/redis/node-redis-client.ts";
import { atEnd } from "../harness/ends.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { clients, clusterClients, type HandedIn, storeOn } from "./contract/clients.ts";

const STARTS: Record<string, () => Promise<HandedIn>> = {};
for (const name of ["node-redis 5", "node-redis 6"] as const) {
  STARTS[name] = async () => {
    const server = await startRedis({ tcp: true });
    atEnd(() => server.stop());
    return clients[name](server.url);
  };
  STARTS[`${name}, cluster`] = async () => {
    const cluster = await startCluster(1);
    atEnd(() => cluster.stop());
    return clusterClients[name](cluster.urls);
  };
}

test.each(Object.keys(STARTS))(
  "%s: a connection is reset after a command was given and before it is written: the client is ready again",
  async (name) => {
    const sockets: Socket[] = [];
    const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
    subscribe("net.client.socket", note);
    atEnd(() => void unsubscribe("net.client.socket", note));
    const handed = await STARTS[name]!();
    atEnd(() => handed.end());
    const store = storeOn(handed, {});
    atEnd(() => store.close());
    const counts = new Counters(store, "resets", { dimensions: ["id"], shards: 1 });
    await counts.add({ id: "a" });
    const node = "masters" in handed.client ? (handed.client as NodeRedisCluster).masters[0]!.client : handed.client;
    const client = node as NodeRedisClient;
    expect(client.isReady).toBe(true);

    const { sendCommand } = client;
    let resets = 0;
    client.sendCommand = (...args) => {
      const reply = sendCommand.apply(client, args);
      for (const socket of sockets)
        if (!socket.destroyed) {
          socket.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
          resets++;
        }
      return reply;
    };
    const added = counts.add({ id: "a" });
    await until("the connections are reset", () => resets > 0);
    client.sendCommand = sendCommand;
    await added;
    await counts.add({ id: "a" });
    expect(await counts.read()).toMatchObject([{ values: { id: "a" }, count: 3 }]);
  },
);
