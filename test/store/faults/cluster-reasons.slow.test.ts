import { inspect } from "node:util";
import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Lock, type OrielError } from "../../../src/entries/index.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { type RedisCluster, startCluster } from "../../harness/servers/redis-cluster.ts";
import { freePort } from "../../harness/servers/redis-server.ts";
import { type HandedIn, storeOn } from "../contract/clients.ts";

/** Long where the test awaits the server's answer, which names the reason as soon as it comes. */
const DEADLINE_MS = 5000;
const UNREACHED_DEADLINE_MS = 2000;
const NO_NODE = /none of the cluster's nodes could be reached/;

let cluster: RedisCluster;
let refusedPort: number;
beforeAll(async () => {
  [cluster, refusedPort] = await Promise.all([startCluster(1), freePort()]);
  const connection = new RespConnection(cluster.url);
  const user = (name: string, ...rules: string[]) => ["ACL", "SETUSER", name, "on", ">planted-secret", ...rules];
  const replies = await connection.send([
    user("ann", "~*", "&*", "+@all", "-@scripting"),
    user("bob", "~other:*", "&*", "+@all"),
    user("cid", "~*", "&*", "+@all", "-cluster"),
  ]);
  connection.close();
  expect(replies).toEqual(Array(3).fill({ status: "OK" }));
});
afterAll(() => cluster?.stop());

interface Trouble {
  url?(): string;
  username?: string;
  password?: string;
  tls?: object;
  reported: RegExp;
  transient: boolean;
  isUnreached?: true;
  /** ioredis gives no reason why it reached no node. */
  isUnreported?: true;
}

const password = "planted-secret";

const troubles: Record<string, Trouble> = {
  "a wrong password": {
    username: "ann",
    password: "planted-secret-that-is-wrong",
    reported: /refused the user name or password \(WRONGPASS/,
    transient: false,
  },
  "a user who may not run scripts": {
    username: "ann",
    password,
    reported: /ACL rules do not allow this \(NOPERM .*(evalsha|script)/,
    transient: false,
  },
  "a user who may not touch the keys": {
    username: "bob",
    password,
    reported: /ACL rules do not allow this \(NOPERM .*key/,
    transient: false,
  },
  "a user who may not ask for the slots": {
    username: "cid",
    password,
    reported: /ACL rules do not allow this \(NOPERM .*cluster/,
    transient: false,
  },
  "an unknown host": {
    url: () => `redis://${"x".repeat(64)}.invalid:6379`,
    reported: /host name (is unknown|could not be looked up) .*(ENOTFOUND|EAI_AGAIN)/,
    transient: false,
    isUnreached: true,
    isUnreported: true,
  },
  "nobody there": {
    url: () => `redis://127.0.0.1:${refusedPort}`,
    reported: /nothing accepts connections at this address .*ECONNREFUSED/,
    transient: true,
    isUnreached: true,
    isUnreported: true,
  },
  "TLS to a plain port": { tls: {}, reported: NO_NODE, transient: true, isUnreached: true },
};

const clients: Record<string, (url: string, trouble: Trouble) => HandedIn> = {
  "ioredis 6": (url, { username, password, tls }) => {
    const redisOptions = { ...(username && { username, password }), ...(tls && { tls }) };
    const client = new Cluster([url], { clusterRetryStrategy: () => 20, redisOptions });
    client.on("error", () => {});
    return { client, end: () => client.disconnect() };
  },
  "node-redis 6": (url, { username, password, tls }) => {
    const socket = { reconnectStrategy: () => 20, ...(tls && { tls: true as const }) };
    const defaults = { socket, ...(username && { username, password }) };
    const client = createCluster({ rootNodes: [{ url: tls ? url.replace("redis:", "rediss:") : url }], defaults });
    client.on("error", () => {});
    client.connect().catch(() => {});
    return { client, end: () => client.destroy() };
  },
};

const rows = Object.keys(troubles).flatMap((trouble) =>
  Object.keys(clients).map((client) => [trouble, client] as const),
);

test.concurrent.each(rows)("a cluster, %s: %s names the reason", async (name, of) => {
  const trouble = troubles[name]!;
  const isUnreported = trouble.isUnreported && of.startsWith("ioredis");
  const given = clients[of]!(trouble.url?.() ?? cluster.url, trouble);
  const store = storeOn(given, { deadline: trouble.isUnreached ? UNREACHED_DEADLINE_MS : DEADLINE_MS });
  try {
    const error: OrielError = await new Lock(store, "k").tryLock().then(
      () => expect.fail("it was answered"),
      (reason) => reason,
    );
    expect(error.message).toMatch(isUnreported ? NO_NODE : trouble.reported);
    expect(error.message).toMatch(/^Lock "k" tryLock: .* \(redis at [^@]+\)$/);
    expect(error, error.message).toMatchObject({ name: "OrielError", code: "UNAVAILABLE", applied: "no" });
    expect(error.transient, error.message).toBe(isUnreported || trouble.transient);
    expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain("planted-secret");
  } finally {
    await store.close();
    given.end();
  }
});
