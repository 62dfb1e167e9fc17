import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpStore, Lock, memoryStore, redisStore, type WatchedStore } from "../../src/entries/index.ts";
import { atEnd } from "../harness/ends.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { freePort, type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { startRest } from "../harness/servers/rest-server.ts";
import { clients, clusterClients, storeOn } from "./contract/clients.ts";

let server: RedisServer;
let cluster: RedisCluster;
beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis({ tcp: true }), startCluster(1)]);
});
afterAll(() => Promise.all([server?.stop(), cluster?.stop()]));

type Open = (url: string, options?: { deadline: number }) => WatchedStore;

const byUrl: Open = (url, options = { deadline: 20_000 }) => {
  const store = redisStore(url, options);
  atEnd(() => store.close());
  return store;
};
/** Each client before it has connected. */
const openers: Record<string, Open> = {
  "a URL": byUrl,
  ...Object.fromEntries(
    Object.entries(clients).map(([name, open]): [string, Open] => [
      name,
      (url, options = { deadline: 20_000 }) => {
        const given = open(url);
        atEnd(() => given.end());
        return storeOn(given, options) as WatchedStore;
      },
    ]),
  ),
};
const clusterOpeners = Object.fromEntries(
  Object.entries(clusterClients).map(([name, open]): [string, Open] => [
    `a cluster of ${name}`,
    (_url, options = { deadline: 20_000 }) => {
      const given = open(cluster.urls);
      atEnd(() => given.end());
      return storeOn(given, options) as WatchedStore;
    },
  ]),
);

/** Keeps the process from doing anything else. */
function standStill(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

/** A port that accepts connections and says nothing, or passes them on after `ms`. */
async function slowPort(ms = Number.POSITIVE_INFINITY): Promise<string> {
  const sockets = new Set<Socket>();
  const { connect } = await import("node:net");
  const slow: Server = createServer(async (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    if (!Number.isFinite(ms)) return;
    await pause(ms); // at least so long nothing is passed on
    const onward = connect(server.port, "127.0.0.1");
    sockets.add(onward);
    onward.on("error", () => {});
    socket.pipe(onward).pipe(socket);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => void slow.listen(port, "127.0.0.1", resolve));
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    slow.close();
  });
  return `redis://127.0.0.1:${port}`;
}

describe.each(Object.entries({ ...openers, ...clusterOpeners }))("over %s", (of, open) => {
  test("the first call's deadline does not include the connection, nor a process that stands still", async () => {
    const store = open(server.url, { deadline: 1000 });
    const first = new Lock(store, `first ${of}`).tryLock();
    await undefined;
    standStill(1500);
    expect(await first).not.toBeNull();
    expect(store.health.state).toBe("up");
  });

  test("ready() resolves when commands can be sent", async () => {
    const store = open(server.url);
    await store.ready();
    await store.ready();
    expect(await new Lock(store, `ready ${of}`).tryLock()).not.toBeNull();
    await store.close();
    await expect(store.ready()).rejects.toThrow(/^store ready: the store is closed \(redis at 127\.0\.0\.1:\d+\)$/);
  });
});

describe.each(Object.entries(openers))("over %s", (of, open) => {
  test("a first connection that is slow to open costs no call", async () => {
    // The call itself waits for its answer less long than it takes to open the connection.
    const store = open(await slowPort(1500), { deadline: 1000 });
    expect(await new Lock(store, `slow ${of}`).tryLock()).not.toBeNull();
  });

  test("ready() rejects with the cause: a wrong password at once, a closed port after the deadline", async () => {
    const secured = server.url.replace("redis://", "redis://nobody:wrong@");
    await expect(open(secured).ready()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      transient: false,
      message: expect.stringMatching(/^store ready: the server refused the user name or password \(WRONGPASS/),
    });
    const closed = open(`redis://127.0.0.1:${await freePort()}`, { deadline: 300 });
    await expect(closed.ready()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      transient: true,
      // Longer than the deadline if this process stood still before the port refused.
      message: expect.stringMatching(
        /: nothing accepts connections at this address .*; tried for ([3-9]\d\d|\d{4,}) ms \(redis at/,
      ),
    });
  });

  test("a server that accepts the first connection and says nothing: that is the reason, not a missing answer", async () => {
    // It ends a call that nobody answers.
    const store = open(await slowPort(), { deadline: 100 });
    const error = await new Lock(store, "silent").tryLock().catch((reason) => reason);
    expect(error).toMatchObject({ code: "UNAVAILABLE", applied: "no", transient: true });
    // On a slow machine the store may be down already when the deadline passes.
    expect(error.message).toMatch(
      /: the server accepts connections and does not answer; (tried for \d{4,} ms|down for [1-9]\d* s) \(redis at 127\.0\.0\.1:\d+\)$/,
    );
  });
});

test("a memory store is ready until it is closed; one over HTTP once its server has answered", async () => {
  const memory = memoryStore();
  await memory.ready();
  await memory.close();
  await expect(memory.ready()).rejects.toMatchObject({ code: "UNAVAILABLE" });

  const rest = await startRest(server.url);
  atEnd(() => rest.stop());
  const store = httpStore({ url: rest.url, token: rest.token });
  await store.ready();
  await store.close();
  await expect(httpStore({ url: rest.url, token: "wrong" }).ready()).rejects.toMatchObject({
    code: "UNAVAILABLE",
    transient: false,
    message: expect.stringMatching(/^store ready: the token was refused/),
  });
});
