import { Counters } from "../../../src/counters/counter/counters.ts";
import type { CountersOptions } from "../../../src/counters/counter/options.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { atEnd } from "../../harness/ends.ts";
import { DIMENSIONS } from "./load.ts";

export const SHARDS = 4;

/** A counter of a store of its own. */
export function open(
  client: Parameters<typeof redisStore>[0],
  storeOptions: RedisStoreOptions = {},
  options: Partial<CountersOptions> = {},
): { store: Store; flow: Counters } {
  const store = redisStore(client, { deadline: 10_000, ...storeOptions });
  atEnd(() => store.close());
  return { store, flow: new Counters(store, "flow", { dimensions: DIMENSIONS, shards: SHARDS, ...options }) };
}
