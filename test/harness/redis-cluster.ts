import { Redis } from "ioredis";
import { freePort, type RedisServer, startRedis } from "./redis-server.ts";

const SLOTS = 16_384;

export interface RedisCluster {
  /** Of the first node; it knows the others. */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  /** Gives a slot to a node at once, with all that lies in it left behind; nobody tells the clients. */
  giveSlot(slot: number, node: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts `count` masters on loopback that share the slots evenly, and waits until they agree. */
export async function startCluster(count: number): Promise<RedisCluster> {
  const nodes = await Promise.all(Array.from({ length: count }, startNode));
  const clients = nodes.map(({ url }) => new Redis(url));
  const stop = async () => {
    for (const client of clients) client.disconnect();
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const ids = await Promise.all(clients.map(async (client) => String(await client.call("CLUSTER", "MYID"))));
  for (let i = 0; i < count; i++) {
    const [from, to] = [(SLOTS * i) / count, (SLOTS * (i + 1)) / count].map(Math.floor) as [number, number];
    await clients[i]!.call("CLUSTER", "SET-CONFIG-EPOCH", String(i + 1));
    await clients[i]!.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(to - 1));
    if (i > 0)
      await clients[0]!.call("CLUSTER", "MEET", "127.0.0.1", String(nodes[i]!.port), String(nodes[i]!.busPort));
  }
  const agrees = async (client: Redis) => {
    const info = String(await client.call("CLUSTER", "INFO"));
    return info.includes("cluster_state:ok") && info.includes(`cluster_size:${count}`);
  };
  while (!(await Promise.all(clients.map(agrees))).every(Boolean))
    await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    url: nodes[0]!.url,
    nodes,
    async giveSlot(slot, node) {
      for (const client of [clients[node]!, ...clients])
        await client.call("CLUSTER", "SETSLOT", String(slot), "NODE", ids[node]!);
    },
    stop,
  };
}

async function startNode(): Promise<RedisServer & { busPort: number }> {
  const busPort = await freePort();
  const args = ["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--cluster-announce-ip", "127.0.0.1"];
  return { ...(await startRedis({ tcp: true, args })), busPort };
}
