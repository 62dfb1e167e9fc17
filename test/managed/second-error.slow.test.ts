import { Socket } from "node:net";
import { Cluster, Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Lock, redisStore, type WatchedStore } from "../../src/entries/index.ts";
import { atEnd } from "../harness/ends.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startCluster(1);
});
afterAll(() => cluster?.stop());

/** All connections that were opened since the test began, also by what earlier files left behind. */
let opened: Set<Socket>;
beforeEach(() => {
  opened = new Set();
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...args: Parameters<typeof connect>) {
    opened.add(this);
    return connect.apply(this, args);
  } as typeof connect;
  return () => {
    Socket.prototype.connect = connect;
  };
});

const over = (client: Redis | Redis5) => {
  atEnd(() => client.disconnect());
  return redisStore(client as Redis);
};
const stores: Record<string, (url: string) => WatchedStore> = {
  "a URL": (url) => redisStore(url),
  "ioredis 6": (url) => over(new Redis(url)),
  "ioredis 5": (url) => over(new Redis5(url)),
};

/** The connections to the cluster that are open. */
const connected = () => [...opened].filter(({ remotePort }) => `${remotePort}` === new URL(cluster.url).port);

function failTwice(connection: Socket): void {
  for (const what of ["first", "second"]) connection.emit("error", new Error(`the ${what} error of a connection`));
}

// A server that refuses a certificate in TLS 1.3 now and then causes an alert and then a reset.
test.each(Object.entries(stores))(
  "two errors of one connection do not end the process, over %s: calls and messages",
  async (of, open) => {
    const store = open(cluster.url);
    atEnd(() => store.close());
    const lock = new Lock(store, `two errors over ${of}`);
    const held = await lock.tryLock();
    // A waiting call opens the connection for messages.
    const waiting = lock.tryLock({ wait: "5s" });
    await expect.poll(async () => (await lock.inspect()).waitingProcesses).toBe(1);
    await expect.poll(() => connected().length).toBeGreaterThan(1);
    for (const connection of connected()) failTwice(connection);
    await held!.release();
    expect(await (await waiting)!.release()).toBe(true);
  },
);

test("two errors of a connection to a cluster's node do not end the process", async () => {
  const client = new Cluster([cluster.url]);
  atEnd(() => client.disconnect());
  const store = redisStore(client);
  atEnd(() => store.close());
  const lock = await new Lock(store, "two errors in a cluster").tryLock();
  const connections = client.nodes("all").flatMap(({ stream }) => (stream ? [stream as Socket] : []));
  expect(connections.length).toBeGreaterThan(0);
  for (const connection of connections) failTwice(connection);
  expect(await lock!.release()).toBe(true);
});
