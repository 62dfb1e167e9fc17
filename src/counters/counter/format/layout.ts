import type { Store } from "../../../store/contract.ts";
import { fnv1a, spreadKeys } from "../../../store/keys.ts";
import type { BucketName } from "../buckets.ts";
import { escapeValue, readValues } from "./field.ts";

export const MAX_SHARDS = 1024;
const FORMAT = 1;
/** Prefix of an added dimension. No dimension's name begins with it. */
const ADDED = "+";
/** Parts of a layout's text before the dimensions: format, shards, finest bucket, time zone. */
const BEFORE_DIMENSIONS = 4;
const ZONE_AT = 3;

/** The keys of all shards, `<prefix>{<name>:<tag>}:counts`. */
export function shardKeys(store: Store, name: string, shards: number): string[] {
  return spreadKeys(store, name, "counts", shards);
}

/** The key that holds the layout of all shards, `<prefix>{<name>}:shape`. */
export function shapeKeyOf(store: Store, name: string): string {
  return `${store.keyOf(name)}:shape`;
}

/** The layout that all processes of a counter must share. It is stored in every shard and sent with every step. */
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

/** Whether a layout equals the older one plus added dimensions. The twin of lua/counter/shard.lua. */
export function extendsLayout(layout: string, older: string): boolean {
  return layout.startsWith(`${older}|${ADDED}`);
}

/** The name of a layout's time zone. */
export function zoneOf(layout: string): string {
  return readValues(`|${layout}`)[ZONE_AT]!;
}

/** The layout with the time zone of another one. */
export function withZoneOf(layout: string, other: string): string {
  const zone = other.split("|")[ZONE_AT]!;
  return layout
    .split("|")
    .map((part, i) => (i === ZONE_AT ? zone : part))
    .join("|");
}

/** The newer one of two compatible layouts. */
export function newerOf(own: string | undefined, layout: string): string {
  return own !== undefined && own.length > layout.length ? own : layout;
}

/** The number of dimensions of a layout, and the number it had at first. */
export function dimensionCounts(layout: string): { first: number; all: number } {
  const names = layout.split("|").slice(BEFORE_DIMENSIONS);
  return { first: names.filter((name) => !name.startsWith(ADDED)).length, all: names.length };
}

/**
 * The shard of a row: FNV-1a over the UTF-8 bytes of its values' text. Part of the stored format. Values of added
 * dimensions are left out of the hash, so that a row stays in its shard when a dimension is added.
 */
export function shardOf(valuesText: Uint8Array, shards: number): number {
  return fnv1a(valuesText) % shards;
}
