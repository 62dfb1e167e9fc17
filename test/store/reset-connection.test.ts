import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { Counters } from "../../src/entries/index.ts";
import type { NodeRedisClient } from "../../src/store/redis/node-redis-client.ts";
import { atEnd } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { clients, storeOn } from "./contract/clients.ts";

test.each(["node-redis 5", "node-redis 6"] as const)(
  "%s: a connection is reset after a command was given and before it is written: the client is ready again",
  async (name) => {
    const server = await startRedis({ tcp: true });
    atEnd(() => server.stop());
    const sockets: Socket[] = [];
    const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
    subscribe("net.client.socket", note);
    atEnd(() => void unsubscribe("net.client.socket", note));
    const handed = clients[name](server.url);
    atEnd(() => handed.end());
    const client = handed.client as NodeRedisClient;
    await until("it is ready", () => client.isReady);
    const connection = sockets.find((each) => each.remotePort === server.port)!;
    const store = storeOn(handed, {});
    atEnd(() => store.close());
    const counts = new Counters(store, "resets", { dimensions: ["id"], shards: 1 });
    await counts.add({ id: "a" });

    const { sendCommand } = client;
    client.sendCommand = (...args) => {
      const reply = sendCommand.apply(client, args);
      connection.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
      return reply;
    };
    const added = counts.add({ id: "a" });
    await until("the connection is reset", () => connection.destroyed);
    client.sendCommand = sendCommand;
    await added;
    await counts.add({ id: "a" });
    expect(await counts.read()).toMatchObject([{ values: { id: "a" }, count: 3 }]);
  },
);
