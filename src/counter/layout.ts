import { argumentError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { slotOf } from "../store/slot.ts";
import type { BucketName } from "./buckets.ts";
import { escapeValue } from "./field.ts";

export const MOST_SHARDS = 1024;
const SLOTS = 16_384;
const FORMAT = 1;

/**
 * The keys of all shards, `<prefix>{<name>:<tag>}:counts`: tags are the first whole numbers that put the i-th key into
 * the i-th of so many equal ranges of slots, so that any number of primaries shares them evenly.
 */
export function shardKeys(store: Store, name: string, shards: number): string[] {
  const keys = new Array<string | undefined>(shards);
  let left = shards;
  for (let tag = 0; left > 0; tag++) {
    const key = `${keyOr(store, name, tag)}:counts`;
    const range = Math.floor((slotOf(key) * shards) / SLOTS);
    if (keys[range] !== undefined) continue;
    keys[range] = key;
    left--;
  }
  return keys as string[];
}

function keyOr(store: Store, name: string, tag: number): string {
  try {
    return store.keyOf(`${name}:${tag}`);
  } catch {
    throw argumentError("name", name, "a string of at most 10 200 bytes, without lone surrogates");
  }
}

/** What all who share a counter must agree on; kept in every shard, given with every step. */
export function layoutText(
  shards: number,
  finest: BucketName,
  timeZone: string,
  dimensions: readonly string[],
): string {
  return [FORMAT, shards, finest, timeZone, ...dimensions].map((part) => escapeValue(`${part}`)).join("|");
}

/** The shard of a row: FNV-1a, 32 bits, over the UTF-8 bytes of its values' text. Part of the stored format. */
export function shardOf(valuesText: Uint8Array, shards: number): number {
  let hash = 0x811c9dc5;
  for (const byte of valuesText) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % shards;
}
