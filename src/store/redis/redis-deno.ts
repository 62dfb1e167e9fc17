import { createRequire } from "node:module";
import type { WatchedStore } from "../contract.ts";
import { clientStore, ownStore, type RedisClient, type RedisStoreOptions } from "./client-store.ts";
import type { RedisClass } from "./connect.ts";

const require = createRequire(import.meta.url);

/** As in redis.ts; ioredis, which reads the environment and may not without permission, is loaded for the first URL. */
export function redisStore(client: string | RedisClient, options: RedisStoreOptions = {}): WatchedStore {
  if (typeof client !== "string") return clientStore(client, options);
  return ownStore(() => (require("ioredis") as { Redis: RedisClass }).Redis, client, options);
}
