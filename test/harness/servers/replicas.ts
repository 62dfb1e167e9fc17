import { Redis } from "ioredis";
import { until } from "../until.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

export interface ReplicatedRedis {
  readonly primary: RedisServer;
  readonly replicas: readonly RedisServer[];
  stop(): Promise<void>;
}

/** A primary with replicas that have caught up with it. `server`: the program, as for `startRedis`. */
export async function startReplicated(replicaCount: number, server?: string): Promise<ReplicatedRedis> {
  const repl = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"];
  const primary = await startRedis({ tcp: true, args: repl, server });
  const replicas = await Promise.all(
    Array.from({ length: replicaCount }, () =>
      startRedis({ tcp: true, args: [...repl, "--replicaof", "127.0.0.1", String(primary.port)], server }),
    ),
  );
  await Promise.all(replicas.map(untilLinked));
  return {
    primary,
    replicas,
    stop: async () => void (await Promise.all([primary, ...replicas].map((server) => server.stop()))),
  };
}

/** Waits until the replica has a primary and all of its data. */
export async function untilLinked({ url }: RedisServer): Promise<void> {
  const client = new Redis(url);
  await until("the replica is linked", async () => /master_link_status:up/.test(await client.info("replication")));
  client.disconnect();
}
