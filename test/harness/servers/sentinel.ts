import { Redis } from "ioredis";
import { until } from "../until.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";
import { type ReplicatedRedis, startReplicated } from "./replicas.ts";

/** The name of the primary in the sentinels. */
const MASTER_NAME = "oriel";

export interface SentinelRedis extends ReplicatedRedis {
  readonly sentinels: readonly RedisServer[];
  /** Options of an ioredis client that asks the sentinels. */
  readonly address: { sentinels: { host: string; port: number }[]; name: string };
  /** URL of the current primary, as the first sentinel sees it. */
  primaryUrl(): Promise<string>;
  /** How long the primary must be silent to be replaced; long at first, so that a busy machine changes nothing. */
  downAfter(ms: number): Promise<void>;
}

/** A primary with replicas under three sentinels of which two must agree. `server`: the program of all. */
export async function startSentinel(replicaCount = 1, server?: string): Promise<SentinelRedis> {
  const replicated = await startReplicated(replicaCount, server);
  const config = [
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${replicated.primary.port} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} 30000`,
    `sentinel failover-timeout ${MASTER_NAME} 3000`,
    "",
  ].join("\n");
  const sentinels = await Promise.all(
    Array.from({ length: 3 }, () => startRedis({ tcp: true, config, args: ["--sentinel"], server })),
  );
  const clients = sentinels.map(({ url }) => new Redis(url));
  const field = async (client: Redis, name: string) => {
    const fields = (await client.call("SENTINEL", "MASTER", MASTER_NAME)) as string[] | Record<string, string>;
    return Array.isArray(fields) ? fields[fields.indexOf(name) + 1] : fields[name];
  };
  for (const client of clients)
    await until("the sentinels know each other and the replicas", async () => {
      const [others, replicas] = [await field(client, "num-other-sentinels"), await field(client, "num-slaves")];
      return Number(others) === 2 && Number(replicas) === replicaCount;
    });
  return {
    ...replicated,
    sentinels,
    address: { sentinels: sentinels.map(({ port }) => ({ host: "127.0.0.1", port })), name: MASTER_NAME },
    async primaryUrl() {
      const [, port] = (await clients[0]!.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME)) as string[];
      return `redis://127.0.0.1:${port}`;
    },
    async downAfter(ms) {
      for (const client of clients)
        await client.call("SENTINEL", "SET", MASTER_NAME, "down-after-milliseconds", `${ms}`);
    },
    async stop() {
      for (const client of clients) client.disconnect();
      await Promise.all(sentinels.map((each) => each.stop()));
      await replicated.stop();
    },
  };
}
