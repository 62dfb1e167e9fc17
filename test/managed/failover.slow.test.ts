import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "../../src/entries/index.ts";
import { atEnd } from "../harness/ends.ts";
import { freePort, type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { Actors } from "./actors.ts";
import { hostName, type Name } from "./names.ts";
import { failureOf, openers, passLock } from "./openers.ts";

/** One primary and one replica of a managed service: same port, other addresses. */
const HOSTS = ["127.0.0.1", "127.0.0.2"] as const;

interface Node {
  host: string;
  server: RedisServer;
  raw: Redis;
}

let port: number;
let primary: Node;
let replica: Node;

async function startNode(host: string, of?: string): Promise<Node> {
  const args = ["--replica-announce-ip", host, "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"];
  const server = await startRedis({ tcp: port, host, args: of ? [...args, "--replicaof", of, String(port)] : args });
  return { host, server, raw: new Redis(server.url).on("error", () => {}) };
}

async function untilLinked(): Promise<void> {
  await until("it replicates", async () => /master_link_status:up/.test(await replica.raw.info("replication")));
}

beforeAll(async () => {
  port = await freePort();
  primary = await startNode(HOSTS[0]);
  replica = await startNode(HOSTS[1], HOSTS[0]);
  await untilLinked();
});
afterAll(async () => {
  for (const node of [primary, replica]) {
    node?.raw.disconnect();
    await node?.server.stop();
  }
});

/** The nodes agree to change roles. Nothing is lost. The name follows later, as names do. */
async function changeRoles(name: Name): Promise<void> {
  await primary.raw.call("FAILOVER", "TIMEOUT", "5000");
  await until("they have changed roles", async () => /role:master/.test(await replica.raw.info("replication")));
  [primary, replica] = [replica, primary];
  await untilLinked();
  await new Promise((resolve) => setTimeout(resolve, 100));
  name.moveTo(primary.host);
}

/** The primary dies after its replica has everything. */
async function die(name: Name): Promise<void> {
  const dead = primary;
  await dead.raw.call("CLIENT", "PAUSE", "10000", "WRITE");
  const offset = async ({ raw }: Node, field: string) =>
    new RegExp(`${field}:(\\d+)`).exec(await raw.info("replication"))![1];
  await until(
    "the replica has all",
    async () => (await offset(dead, "master_repl_offset")) === (await offset(replica, "slave_repl_offset")),
  );
  await replica.raw.replicaof("NO", "ONE");
  primary = replica;
  name.moveTo(primary.host);
  dead.raw.disconnect();
  await dead.server.stop();
  replica = await startNode(dead.host, primary.host);
}

test.each(Object.entries(openers))("over %s: no acknowledged write is lost or doubled", async (of, open) => {
  const name = hostName(primary.host);
  // Redis itself answers no write for a second or two while two nodes change roles.
  const actors = new Actors(open(`redis://${name.host}:${port}`, { deadline: 5000 }), `moved ${of}`);
  await actors.progress();

  await changeRoles(name);
  // ioredis gives up a connection to a replica. node-redis has no such option: the server must close the connection.
  if (of.startsWith("node-redis")) await replica.raw.call("CLIENT", "KILL", "TYPE", "normal");
  await actors.progress();
  expect(name.lookups).toBeGreaterThan(1);

  await die(name);
  await actors.progress();

  const truth = redisStore(`redis://${primary.host}:${port}`, { deadline: 5000 });
  atEnd(() => truth.close());
  await actors.check(truth);
});

test("node-redis follows the name after destroy and connect, without a cut by the server", async () => {
  const name = hostName(primary.host);
  const client = createClient({ url: `redis://${name.host}:${port}`, maintNotifications: "disabled" }).on(
    "error",
    () => {},
  );
  atEnd(() => client.destroy());
  const store = redisStore(client, { deadline: 2000 });
  await passLock(store);
  await changeRoles(name);
  expect((await failureOf(store)).message).toMatch(/is a replica, which takes no writes \(READONLY/);
  client.destroy();
  await client.connect();
  await passLock(store);
  await store.close();
});
