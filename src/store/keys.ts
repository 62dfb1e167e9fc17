import { argumentError } from "../base/errors.ts";
import type { Store } from "./contract.ts";

/** Longest name in UTF-8 bytes. Names may come from clients, and every hop keeps the key in memory. */
const MAX_NAME_BYTES = 10_240;

const ESCAPES: Record<string, string> = { "%": "%25", "{": "%7B", "}": "%7D" };
/** The usual names: short, of printable ASCII, without characters to escape. */
const PLAIN = /^[ -$&-z|~]{1,512}$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Checks a prefix of keys. It has no braces, so that the name alone decides the slot. */
export function checkPrefix(prefix: unknown): string {
  if (typeof prefix !== "string" || /[{}]/.test(prefix) || LONE_SURROGATE.test(prefix) || prefix.length > 1024)
    throw argumentError("prefix", prefix, "a string of at most 1024 characters, without braces or lone surrogates");
  return prefix;
}

/** The option `prefix` of every store. */
export const PREFIX = [(_: string, prefix: string) => checkPrefix(prefix), "oriel:"] as const;

/**
 * Full name of the key of `name`: the prefix, then the escaped name in braces. Different names give different keys. All
 * keys that begin with it are in one slot. `%`, `{` and `}` are percent-escaped; the empty name becomes `%`.
 * Throws ARGUMENT if `name` is not a string, has a lone surrogate (which has no UTF-8 form) or exceeds 10 240 bytes.
 */
export function keyOf(prefix: string, name: string): string {
  if (typeof name !== "string") throw argumentError("name", name, "a string");
  if (PLAIN.test(name)) return `${prefix}{${name}}`;
  if (LONE_SURROGATE.test(name)) throw argumentError("name", name, "a string without lone surrogates");
  if (name.length > MAX_NAME_BYTES / 3 && new TextEncoder().encode(name).length > MAX_NAME_BYTES)
    throw argumentError("name", name, `at most ${MAX_NAME_BYTES} bytes in UTF-8`);
  return `${prefix}{${name === "" ? "%" : name.replace(/[%{}]/g, (found) => ESCAPES[found]!)}}`;
}

/** Of a Redis Cluster. */
export const SLOTS = 16_384;

/** CRC-16/XMODEM (polynomial 0x1021, start 0), one table entry per byte. */
const TABLE = /* @__PURE__ */ Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The slot of a key in a Redis Cluster. It hashes the text in the first braces, or the whole key if there is none. */
export function slotOf(key: string): number {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of new TextEncoder().encode(hashed)) crc = ((crc << 8) ^ TABLE[(crc >> 8) ^ byte]!) & 0xffff;
  return crc % SLOTS;
}

/**
 * Keys of the shards of one structure, `<prefix>{<name>:<tag>}:<what>`. The slots are split into `shards` equal ranges.
 * The tag of the i-th key is the first whole number that puts the key into the i-th range, so that any number of
 * primaries shares the keys evenly. Part of the stored format.
 */
export function spreadKeys(store: Store, name: string, what: string, shards: number): string[] {
  const keys = new Array<string | undefined>(shards);
  let left = shards;
  for (let tag = 0; left > 0; tag++) {
    const key = `${taggedKey(store, name, tag)}:${what}`;
    const range = Math.floor((slotOf(key) * shards) / SLOTS);
    if (keys[range] !== undefined) continue;
    keys[range] = key;
    left--;
  }
  return keys as string[];
}

function taggedKey(store: Store, name: string, tag: number): string {
  try {
    return store.keyOf(`${name}:${tag}`);
  } catch {
    throw argumentError("name", name, "a string of at most 10 200 bytes, without lone surrogates");
  }
}

/** The FNV-1a hash of 32 bits, as a whole number from 0. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
