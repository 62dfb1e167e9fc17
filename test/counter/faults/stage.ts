import { afterEach } from "vitest";
import { Counters } from "../../../src/counter/counters.ts";
import type { CountersOptions } from "../../../src/counter/options.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { DIMENSIONS } from "./load.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export function atEnd(end: () => unknown): void {
  ends.push(end);
}

export const SHARDS = 4;

/** A counter of a store of its own. */
export function open(
  client: Parameters<typeof redisStore>[0],
  storeOptions: RedisStoreOptions = {},
  options: Partial<CountersOptions> = {},
): { store: Store; flow: Counters } {
  const store = redisStore(client, { deadline: 3000, ...storeOptions });
  ends.push(() => store.close());
  return { store, flow: new Counters(store, "flow", { dimensions: DIMENSIONS, shards: SHARDS, ...options }) };
}
