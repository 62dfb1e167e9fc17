import { argumentError } from "../errors.ts";
import type { Store } from "./contract.ts";
import { ioredisClient } from "./ioredis.ts";
import type { IoredisClient } from "./ioredis-client.ts";
import { nodeRedisClient } from "./node-redis.ts";
import { isNodeRedis, type NodeRedisClient, type NodeRedisCluster } from "./node-redis-client.ts";
import { type ScriptStoreOptions, scriptStore } from "./script-store.ts";
import { functions, scripts } from "./scripting.ts";

export interface RedisStoreOptions extends ScriptStoreOptions {
  /**
   * "eval" (default): steps are scripts in the server's cache. "functions": libraries oriel_… (FUNCTION LOAD, FCALL), which
   * the server keeps, replicates and writes to its files; loaded on every primary, and again where they are missing.
   */
  scripting?: "eval" | "functions" | undefined;
}

/** A client as it is handed in. */
export type RedisClient = IoredisClient | NodeRedisClient | NodeRedisCluster;

/** A store over a client of ioredis or node-redis; `connect` makes one of ioredis that ends with the store. */
export function clientStore(
  client: RedisClient | ((deadlineMs: number) => IoredisClient),
  options: RedisStoreOptions,
): Store {
  const { scripting: name = "eval" } = options;
  if (name !== "eval" && name !== "functions") throw argumentError("scripting", name, '"eval" or "functions"');
  const scripting = name === "functions" ? functions : scripts;
  return scriptStore((deadlineMs) => {
    if (typeof client === "function") return ioredisClient(client(deadlineMs), true, scripting);
    if (typeof client === "object" && client !== null) {
      if (isNodeRedis(client)) return nodeRedisClient(client, scripting);
      if (typeof client.sendCommand === "function" && typeof client.status === "string")
        return ioredisClient(client, false, scripting);
    }
    throw argumentError("client", client, "a URL, a client of ioredis, or a client or cluster of node-redis");
  }, options);
}
