import type { Store } from "../store/contract.ts";
import { page } from "./page.ts";

const FIELDS_PER_PAGE = 1000;
/** More than a shard has: all of it in one step. */
const ALL_FIELDS = 2 ** 31 - 1;

/** What a shard holds. */
export interface ShardCounts {
  /** By generation and row (`<start>|<value>...`): what is not yet known to be elsewhere. */
  counts: Map<number, Map<string, bigint>>;
  acknowledged: number;
  /** By generation, of those that are frozen. */
  nonces: Map<number, string>;
  /** Fields that count no more. */
  leftovers: string[];
  /** Where the marks of producers stand. */
  producers: Map<string, string>;
}

/**
 * All of a shard: "whole", as it is at one moment, in a step that takes about 1 us a field; or in "pages", where only a
 * generation that was frozen before is read exactly, if the shard does not move to another server meanwhile.
 */
export async function readShard(
  store: Store,
  key: string,
  layout: string,
  how: "whole" | "pages",
  signal?: AbortSignal,
): Promise<ShardCounts> {
  const count = how === "whole" ? ALL_FIELDS : FIELDS_PER_PAGE;
  const shard: ShardCounts = {
    counts: new Map(),
    acknowledged: 0,
    nonces: new Map(),
    leftovers: [],
    producers: new Map(),
  };
  const leftovers = new Set<string>();
  for (let cursor = "0"; ; ) {
    const one = await store.run(page, key, { layout, cursor, count }, signal && { signal });
    shard.acknowledged = one.acknowledged;
    for (let i = 0; i < one.fields.length; i += 2) {
      const field = one.fields[i]!;
      const value = one.fields[i + 1]!;
      const bar = field.indexOf("|");
      if (field.startsWith("w:")) shard.producers.set(field, value);
      else if (field.startsWith("@x:")) shard.nonces.set(Number(field.slice(3)), value);
      else if (bar > 0 && /^\d/.test(field)) {
        const generation = Number(field.slice(0, bar));
        if (generation <= one.acknowledged) leftovers.add(field);
        else put(shard.counts, generation, field.slice(bar + 1), BigInt(value));
      }
    }
    cursor = one.cursor;
    if (cursor === "0") break;
  }
  shard.leftovers = [...leftovers];
  return shard;
}

function put(counts: ShardCounts["counts"], generation: number, row: string, count: bigint): void {
  const rows = counts.get(generation);
  if (rows) rows.set(row, count);
  else counts.set(generation, new Map([[row, count]]));
}
