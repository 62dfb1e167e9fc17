import type { Store } from "../../store/contract.ts";
import { fnv1a, spreadKeys } from "../../store/spread-keys.ts";
import type { BucketName } from "../buckets.ts";
import { escapeValue } from "./field.ts";

export const MOST_SHARDS = 1024;
const FORMAT = 1;
/** Begins the name of a dimension that was added; no name has it. */
const ADDED = "+";
/** Of a layout's text: format, shards, finest bucket, time zone; then the dimensions. */
const BEFORE_DIMENSIONS = 4;

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
  addedDimensions: readonly string[] = [],
): string {
  const added = addedDimensions.map((name) => `${ADDED}${name}`);
  return [FORMAT, shards, finest, timeZone, ...dimensions, ...added].map((part) => escapeValue(`${part}`)).join("|");
}

/** Whether a layout is an older one with dimensions that were added. The twin of lua/counter/shard.lua. */
export function extendsLayout(layout: string, older: string): boolean {
  return layout.startsWith(`${older}|${ADDED}`);
}

/** Of two layouts that agree. */
export function newerOf(own: string | undefined, layout: string): string {
  return own !== undefined && own.length > layout.length ? own : layout;
}

/** How many dimensions a layout has, and how many of them it had at first. */
export function dimensionCounts(layout: string): { first: number; all: number } {
  const names = layout.split("|").slice(BEFORE_DIMENSIONS);
  return { first: names.filter((name) => !name.startsWith(ADDED)).length, all: names.length };
}

/**
 * The shard of a row: FNV-1a over the UTF-8 bytes of its values' text. Part of the stored format. Values of dimensions that
 * were added do not count: a row stays in its shard, where it is known what was counted of it.
 */
export function shardOf(valuesText: Uint8Array, shards: number): number {
  return fnv1a(valuesText) % shards;
}
