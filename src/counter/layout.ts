import type { Store } from "../store/contract.ts";
import { fnv1a, spreadKeys } from "../store/spread-keys.ts";
import type { BucketName } from "./buckets.ts";
import { escapeValue } from "./field.ts";

export const MOST_SHARDS = 1024;
const FORMAT = 1;

/** The keys of all shards, `<prefix>{<name>:<tag>}:counts`. */
export function shardKeys(store: Store, name: string, shards: number): string[] {
  return spreadKeys(store, name, "counts", shards);
}

/** The key that holds the layout of all shards, `<prefix>{<name>}:shape`. */
export function shapeKeyOf(store: Store, name: string): string {
  return `${store.keyOf(name)}:shape`;
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

/** The shard of a row: FNV-1a over the UTF-8 bytes of its values' text. Part of the stored format. */
export function shardOf(valuesText: Uint8Array, shards: number): number {
  return fnv1a(valuesText) % shards;
}
