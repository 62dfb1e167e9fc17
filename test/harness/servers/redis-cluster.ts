import { Redis } from "ioredis";
import { slotOf } from "../../../src/store/keys.ts";
import { until } from "../until.ts";
import { freePort, type RedisServer, startRedis, withFreePorts } from "./redis-server.ts";

const SLOTS = 16_384;

export interface RedisCluster {
  /** Of the first node; it knows the others. */
  readonly url: string;
  /** Of all nodes, for clients that must find their way when the first is gone. */
  readonly urls: readonly string[];
  /** Primaries first, then their replicas in the same order; who has which role may change. */
  readonly nodes: readonly (RedisServer & { readonly tlsPort: number })[];
  /** Index of the node that has the slot of this key now. */
  ownerOf(key: string): Promise<number>;
  /** Index of the first replica of a node. */
  replicaOf(node: number): Promise<number>;
  /** Assigns a slot to a node at once, without its keys. The clients are not notified. */
  giveSlot(slot: number, node: number): Promise<void>;
  /** Moves a slot and its keys, key by key, as resharding does under load. */
  moveSlot(slot: number, node: number): Promise<void>;
  /** Moves a range of slots of one node as a whole, by the server's own command: Redis 8.4 or later, Valkey 9 or later. */
  migrateSlots(from: number, to: number, node: number): Promise<void>;
  /** Makes a replica the primary: agreed with the primary, or by itself where that one is gone ("TAKEOVER"). */
  failover(replica: number, how?: "TAKEOVER"): Promise<void>;
  /** After how long a silent node is taken for dead; long at first, so that a busy machine changes nothing. */
  nodeTimeout(ms: number): Promise<void>;
  /** Empties all primaries. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export interface Network {
  /** The address of all nodes; default 127.0.0.1. */
  host?: string;
  /** Arguments of a server with TLS. Each node then has a second port, for clients with TLS. */
  tls?: readonly string[];
}

/** Starts primaries on loopback that share the slots evenly, and replicas of each, and waits until all agree. */
export async function startCluster(
  count: number,
  replicasOfEach = 0,
  server?: string,
  { host = "127.0.0.1", tls }: Network = {},
): Promise<RedisCluster> {
  const total = count * (1 + replicasOfEach);
  const nodes = await Promise.all(Array.from({ length: total }, () => startNode(host, tls, server)));
  const clients = nodes.map(({ url }) => {
    const client = new Redis(url, { retryStrategy: () => 100 });
    client.on("error", () => {});
    return client;
  });
  const call = async (node: number, ...words: (string | number)[]) =>
    clients[node]!.call("CLUSTER", ...words.map(String));
  const ids = await Promise.all(nodes.map(async (_, i) => String(await call(i, "MYID"))));
  const info = async (node: number) => String(await call(node, "INFO"));
  const running = () => nodes.flatMap((node, i) => (node.isRunning() ? [i] : []));

  await Promise.all(
    nodes.map(async ({ port, tlsPort, busPort }, i) => {
      await call(i, "SET-CONFIG-EPOCH", i + 1);
      if (i > 0) await call(0, "MEET", host, tlsPort || port, busPort);
      if (i >= count) return;
      const [from, to] = [(SLOTS * i) / count, (SLOTS * (i + 1)) / count].map(Math.floor) as [number, number];
      await call(i, "ADDSLOTSRANGE", from, to - 1);
    }),
  );
  await Promise.all(
    nodes.map(async (_, i) => {
      await until("the nodes know each other", async () => (await info(i)).includes(`cluster_known_nodes:${total}`));
      if (i >= count) await until("it replicates", async () => (await call(i, "REPLICATE", ids[i % count]!)) === "OK");
    }),
  );
  await Promise.all(
    nodes.map((_, i) =>
      until("the cluster is whole", async () => {
        const text = await info(i);
        const isWhole = text.includes("cluster_state:ok") && text.includes(`cluster_size:${count}`);
        if (!isWhole || String(await call(i, "NODES")).split("slave ").length <= total - count) return false;
        return i < count || /master_link_status:up/.test(await clients[i]!.info("replication"));
      }),
    ),
  );

  /** Lines of CLUSTER NODES as one running node sees them: id, flags, id of its primary, slots. */
  async function view(): Promise<{ index: number; flags: string; primary: string; slots: string[] }[]> {
    const text = String(await call(running()[0]!, "NODES"));
    return text
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([id, , flags, primary, , , , , ...slots]) => ({
        index: ids.indexOf(id!),
        flags: flags!,
        primary: primary!,
        slots,
      }));
  }
  const owns = (slots: readonly string[], slot: number) =>
    slots.some((range) => {
      const [from, to = from] = range.split("-").map(Number) as [number, number?];
      return from <= slot && slot <= to!;
    });
  const ownerOfSlot = async (slot: number) => {
    const owner = (await view()).find(({ flags, slots }) => /master/.test(flags) && owns(slots, slot));
    if (!owner) throw new Error(`nobody has slot ${slot}`);
    return owner.index;
  };
  const assign = async (slot: number, node: number) => {
    const masters = (await view()).filter(({ flags }) => flags.includes("master") && !flags.includes("fail"));
    for (const each of [node, ...masters.map(({ index }) => index)])
      await call(each, "SETSLOT", slot, "NODE", ids[node]!);
  };

  return {
    url: nodes[0]!.url,
    urls: nodes.map(({ url }) => url),
    nodes,
    ownerOf: (key) => ownerOfSlot(slotOf(key)),
    async replicaOf(node) {
      const replica = (await view()).find(({ flags, primary }) => flags.includes("slave") && primary === ids[node]);
      if (!replica) throw new Error(`node ${node} has no replica`);
      return replica.index;
    },
    giveSlot: assign,
    async moveSlot(slot, node) {
      const owner = await ownerOfSlot(slot);
      if (owner === node) return;
      await call(node, "SETSLOT", slot, "IMPORTING", ids[owner]!);
      await call(owner, "SETSLOT", slot, "MIGRATING", ids[node]!);
      for (;;) {
        const keys = (await call(owner, "GETKEYSINSLOT", slot, 10)) as string[];
        if (keys.length === 0) break;
        for (const key of keys)
          await clients[owner]!.call("MIGRATE", host, String(nodes[node]!.port), key, "0", "5000");
      }
      await assign(slot, node);
    },
    async migrateSlots(from, to, node) {
      const owner = await ownerOfSlot(from);
      const help = String(await call(owner, "HELP"));
      if (help.includes("MIGRATESLOTS")) await call(owner, "MIGRATESLOTS", "SLOTSRANGE", from, to, "NODE", ids[node]!);
      else await call(node, "MIGRATION", "IMPORT", from, to);
      await until("the slots have moved", async () => {
        const owners = await Promise.all([from, to].map(ownerOfSlot));
        return owners.every((each) => each === node);
      });
    },
    async failover(replica, how) {
      if (how) await call(replica, "FAILOVER", how);
      else await call(replica, "FAILOVER");
      await until("the replica is a primary", async () =>
        /role:master/.test(await clients[replica]!.info("replication")),
      );
      await until("the others know", async () => {
        const seen = await Promise.all(running().map(async (each) => String(await call(each, "NODES"))));
        return seen.every((text) => new RegExp(`^${ids[replica]} .*master`, "m").test(text));
      });
    },
    async nodeTimeout(ms) {
      await Promise.all(running().map((node) => clients[node]!.config("SET", "cluster-node-timeout", ms)));
    },
    async flush() {
      await until("all is empty", async () => {
        const masters = (await view()).filter(({ flags }) => flags.includes("master") && !flags.includes("fail"));
        await Promise.all(masters.map(({ index }) => clients[index]!.flushall()));
        return masters.length > 0;
      });
    },
    async stop() {
      for (const client of clients) client.disconnect();
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

interface Node extends RedisServer {
  readonly busPort: number;
  /** 0 without TLS. */
  readonly tlsPort: number;
}

async function startNode(host: string, tls?: readonly string[], program?: string): Promise<Node> {
  let busPort = 0;
  const tlsPort = tls ? await freePort() : 0;
  const server = await withFreePorts((port, another) => {
    busPort = another;
    const args = [
      ...["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--cluster-announce-ip", host],
      ...["--cluster-node-timeout", "10000", "--repl-diskless-sync-delay", "0"],
      ...(tls ? ["--tls-cluster", "yes", "--tls-port", String(tlsPort), ...tls] : []),
    ];
    return startRedis({ tcp: port, host, args, server: program });
  });
  return { ...server, busPort, tlsPort };
}
