import { Cluster, Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { createClient, createCluster } from "redis";
import * as redis5 from "redis5";
import { expect } from "vitest";
import { Lock, type TlsOptions, type WatchedStore } from "../../src/entries/index.ts";
import type { IoredisClient } from "../../src/store/redis/ioredis-client.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { holdingTimers } from "../harness/clock/held-timers.ts";
import { atEnd } from "../harness/ends.ts";

export interface Given {
  tls?: TlsOptions;
  /** Of the store, in ms. */
  deadline?: number;
  /** Of a client that the user passes, in ms. */
  socketTimeout?: number;
}

function overIoredis(client: IoredisClient, deadline?: number): WatchedStore {
  client.on("error", () => {});
  atEnd(() => client.disconnect());
  return ending(redisStore(client, { deadline }));
}

function ending(store: WatchedStore): WatchedStore {
  atEnd(() => store.close());
  return store;
}

/** Version 6 asks for notices of maintenance, and for that looks up the host by itself: an address in brackets, too. */
const maintNotifications = "disabled";

function overNodeRedis(create: typeof createClient, url: string, { tls, deadline }: Given = {}): WatchedStore {
  const reconnectStrategy = () => 20;
  const socket = tls ? { tls: true as const, ...(tls as object), reconnectStrategy } : { reconnectStrategy };
  const client = create({ url, socket, maintNotifications });
  client.on("error", () => {});
  client.connect().catch(() => {});
  atEnd(() => client.isOpen && client.destroy());
  return ending(redisStore(client as never, { deadline }));
}

function overNodeCluster(
  create: typeof createCluster,
  urls: readonly string[],
  { tls, deadline }: Given = {},
): WatchedStore {
  const defaults = tls ? { socket: { tls: true as const, ...(tls as object) } } : {};
  const client = create({ rootNodes: urls.map((url) => ({ url })), defaults: { ...defaults, maintNotifications } });
  client.on("error", () => {});
  client.connect().catch(() => {});
  atEnd(() => client.destroy());
  return ending(redisStore(client as never, { deadline }));
}

const fast = { retryStrategy: () => 20, reconnectOnError: ({ message }: Error) => message.startsWith("READONLY") };

/** A store over each supported client, with what a user gives it. Store and client are closed after the test. */
export const openers: Record<string, (url: string, given?: Given) => WatchedStore> = {
  "a URL": (url, { tls, deadline } = {}) => ending(redisStore(url, { deadline, ...(tls && { tls }) })),
  "ioredis 6": (url, { tls, deadline, socketTimeout } = {}) =>
    overIoredis(new Redis(url, { ...fast, socketTimeout, ...(tls && { tls: tls as object }) }), deadline),
  "ioredis 5": (url, { tls, deadline, socketTimeout } = {}) =>
    overIoredis(new Redis5(url, { ...fast, socketTimeout, ...(tls && { tls: tls as object }) }), deadline),
  "node-redis 6": (url, given) => overNodeRedis(createClient, url, given),
  "node-redis 5": (url, given) => overNodeRedis(redis5.createClient as unknown as typeof createClient, url, given),
};

/** The error of a lock's acquisition, which must fail. */
export async function failureOf(store: WatchedStore): Promise<Error> {
  return new Lock(store, "refused").tryLock().then(
    () => expect.fail("it was answered"),
    (error) => error,
  );
}

/** Acquires a lock, lets another caller wait for it, and releases it. The waiter hears of the release by a message. */
export async function passLock(store: WatchedStore, other: WatchedStore = store): Promise<void> {
  const name = `passed ${Math.random()}`;
  const first = await new Lock(store, name).tryLock();
  // A waiter without messages looks again after some seconds.
  const second = await holdingTimers(2000, async () => {
    const waiting = new Lock(other, name).tryLock({ wait: "10s" });
    await expect.poll(async () => (await new Lock(store, name).inspect()).waitingProcesses).toBe(1);
    expect(await first!.release()).toBe(true);
    return waiting;
  });
  expect(second!.fence).toBeGreaterThan(first!.fence);
  expect(await second!.release()).toBe(true);
}

/** A store over each supported cluster's client, and the client. */
export const clusterOpeners: Record<string, (urls: readonly string[], given?: Given) => WatchedStore> = {
  "ioredis 6": (urls, { tls, deadline } = {}) => {
    const redisOptions = tls ? { tls: tls as object } : {};
    const client = new Cluster([...urls], { clusterRetryStrategy: () => 20, slotsRefreshTimeout: 3000, redisOptions });
    return overIoredis(client, deadline);
  },
  "node-redis 6": (urls, given) => overNodeCluster(createCluster, urls, given),
  "node-redis 5": (urls, given) =>
    overNodeCluster(redis5.createCluster as unknown as typeof createCluster, urls, given),
};
