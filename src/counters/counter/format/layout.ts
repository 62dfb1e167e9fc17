import type { BucketName } from "../../../base/calendar.ts";
import type { Store } from "../../../store/contract.ts";
import { fnv1a, spreadKeys } from "../../../store/keys.ts";

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

/** Bounds that every supported database can store. A value outside them is refused when it is counted. */

const KEY_CHARACTERS = 765;
const MAX_VALUE_CHARACTERS = 255;

/**
 * Maximum UTF-16 units of a value: 255 with up to three dimensions, otherwise 765 divided by the dimensions. A primary
 * key has no more room.
 */
export function longestValue(dimensions: number): number {
  return Math.min(MAX_VALUE_CHARACTERS, Math.floor(KEY_CHARACTERS / Math.max(1, dimensions)));
}

/** Whether every database stores the text unchanged. None accepts NUL or a lone surrogate in all encodings. */
export function isStorable(text: unknown, longest: number): text is string {
  return typeof text === "string" && text.length <= longest && !/[\0\p{Surrogate}]/u.test(text);
}

/** The years 1000 to 9999: all databases have timestamps for them, with days of any time zone. */
export const MIN_START_MS = /* @__PURE__ */ Date.UTC(1000, 0);
export const MAX_START_MS = /* @__PURE__ */ Date.UTC(9999, 11, 31, 23, 59);

/** The times on which exactness across failovers depends. test/counter/simulator removes them one by one. */
export const failoverTimes = {
  /** How long after its acknowledgement a batch may still be lost in a failover. */
  keptMs: 10_000,
  /** After this time the last acknowledged batch is checked once more, and unconfirmed-batches.ts then drops it. */
  checkMs: 11_000,
  /**
   * A producer that was silent for this long takes a new mark. A drain deletes marks that have not moved for an hour.
   */
  longestSilenceMs: 1_200_000,
};

/**
 * The name of a row in a shard: `<start, minutes since 1970>|<value>|<value>...`. Values are in the order of the
 * dimensions, with "%", "|" and line feeds as % and two hexadecimal digits.
 */
const ESCAPED = /[%|\n]/g;

function escapeValue(value: string): string {
  return value.replace(ESCAPED, (found) => `%${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function unescapeValue(text: string): string {
  return text.replace(/%([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** The part after the start: a "|" before each value. */
export function valuesText(values: readonly string[]): string {
  return values.map((value) => `|${escapeValue(value)}`).join("");
}

export function readValues(text: string): string[] {
  return text.split("|").slice(1).map(unescapeValue);
}

/** `dimensions`: their number. Values of dimensions that the counting process did not have are empty. */
export function readField(text: string, dimensions = 0): { startMinute: number; values: string[] } {
  const values = readValues(text);
  while (values.length < dimensions) values.push("");
  return { startMinute: Number.parseInt(text, 10), values };
}
