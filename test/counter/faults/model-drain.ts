import { layoutText, shardKeys } from "../../../src/counters/counter/format/layout.ts";
import { readShard } from "../../../src/counters/counter/read-shard.ts";
import { acknowledge, freeze, sweep } from "../../../src/counters/counter/steps/generations.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { Table } from "../simulator/table.ts";
import { DIMENSIONS } from "./load.ts";

/** Takes what one shard holds into the table; how many events. */
async function drainShard(store: Store, shards: number, shard: number, table: Table): Promise<bigint> {
  const key = shardKeys(store, "flow", shards)[shard]!;
  const layout = layoutText(shards, "minute", "UTC", DIMENSIONS);
  const { generation } = await store.run(freeze, key, { layout, nonce: crypto.randomUUID() });
  if (!generation) return 0n;
  const { number, nonce, sum } = generation;
  const rows = (await readShard(store, key, layout, "pages")).counts.get(number) ?? new Map<string, bigint>();
  // A shard that moves to another server while it is paged may lack fields: next time.
  if ([...rows.values()].reduce((total, count) => total + count, 0n) !== sum) return 0n;
  if (table.apply(shard, number, nonce, rows) === "behind") throw new Error(`shard ${shard} has diverged`);
  if (!(await store.run(acknowledge, key, { layout, generation: number, nonce }))) return 0n;
  const { leftovers } = await readShard(store, key, layout, "pages");
  await store.run(sweep, key, { layout, fields: leftovers.flatMap((field) => [field, ""]) });
  return sum;
}

export async function drainAll(store: Store, shards: number, table: Table): Promise<bigint> {
  const sums = await Promise.all(Array.from({ length: shards }, (_, shard) => drainShard(store, shards, shard, table)));
  return sums.reduce((total, sum) => total + sum, 0n);
}
