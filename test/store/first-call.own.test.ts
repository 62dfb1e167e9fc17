import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { deferred } from "../../src/base/async/deferred.ts";
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

/** Time passes for the store and its client in steps only, so servers and machine may be slow. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Time passes, and what is due by then happens in order. */
async function step(ms: number): Promise<void> {
  for (let goneMs = 0; goneMs < ms; goneMs += 20) {
    vi.advanceTimersByTime(20);
    await turn();
  }
}

/** Time passes until a call settles. */
async function stepUntil<T>(call: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  call.then(settled, settled);
  while (!isSettled) await step(20);
  return call;
}

type Open = (url: string, options?: { deadline: number }) => WatchedStore;

/** Shorter than the 2 s that the first connection has. */
const DEADLINE_MS = 1000;

const byUrl: Open = (url, options = { deadline: DEADLINE_MS }) => {
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
      (url, options = { deadline: DEADLINE_MS }) => {
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
    (_url, options = { deadline: DEADLINE_MS }) => {
      const given = open(cluster.urls);
      atEnd(() => given.end());
      return storeOn(given, options) as WatchedStore;
    },
  ]),
);

/**
 * A port that accepts connections and says nothing until `open`, which passes them on. A fifth of a deadline goes by before it
 * passes on the first script.
 */
async function slowPort() {
  const sockets = new Set<Socket>();
  const opened = deferred();
  const accepted = deferred();
  const slow: Server = createServer(async (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    accepted.resolve();
    await opened.promise;
    const onward = connect(server.port, "127.0.0.1");
    sockets.add(onward);
    onward.on("error", () => {});
    let isFirst = true;
    socket.on("data", (bytes) => {
      if (isFirst && /EVAL/i.test(String(bytes))) {
        isFirst = false;
        vi.advanceTimersByTime(DEADLINE_MS / 5);
      }
      onward.write(bytes);
    });
    onward.pipe(socket);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => void slow.listen(port, "127.0.0.1", resolve));
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    slow.close();
  });
  return { url: `redis://127.0.0.1:${port}`, accepted: accepted.promise, open: () => opened.resolve() };
}

describe.each(Object.entries({ ...openers, ...clusterOpeners }))("over %s", (of, open) => {
  test("the first call's deadline does not include the connection, nor a process that stands still", async () => {
    const store = open(server.url);
    const first = new Lock(store, `first ${of}`).tryLock();
    await undefined;
    vi.advanceTimersByTime(1.5 * DEADLINE_MS); // at once: nothing is read meanwhile
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
    const slow = await slowPort();
    const store = open(slow.url);
    const first = new Lock(store, `slow ${of}`).tryLock();
    await slow.accepted;
    await step(1.5 * DEADLINE_MS);
    slow.open();
    // It has a whole deadline from now on.
    expect(await first).not.toBeNull();
    expect(store.health.state).toBe("up");
  });

  test("ready() rejects with the cause: a wrong password at once, a closed port after the deadline", async () => {
    const secured = server.url.replace("redis://", "redis://nobody:wrong@");
    await expect(open(secured).ready()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      transient: false,
      message: expect.stringMatching(/^store ready: the server refused the user name or password \(WRONGPASS/),
    });
    const closed = open(`redis://127.0.0.1:${await freePort()}`);
    await expect(stepUntil(closed.ready())).rejects.toMatchObject({
      code: "UNAVAILABLE",
      transient: true,
      message: expect.stringMatching(
        /: nothing accepts connections at this address .*; tried for 1\d{3} ms \(redis at/,
      ),
    });
  });

  test("a server that accepts the first connection and says nothing: that is the reason, not a missing answer", async () => {
    const { url, accepted } = await slowPort();
    const store = open(url);
    const first = new Lock(store, "silent").tryLock().catch((reason) => reason);
    await accepted;
    const error = await stepUntil(first);
    expect(error).toMatchObject({ code: "UNAVAILABLE", applied: "no", transient: true });
    expect(error.message).toMatch(
      /: the server accepts connections and does not answer; tried for [23]\d{3} ms \(redis at 127\.0\.0\.1:\d+\)$/,
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
