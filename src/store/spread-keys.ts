import { argumentError } from "../base/errors.ts";
import type { Store } from "./contract.ts";
import { slotOf } from "./slot.ts";

const SLOTS = 16_384;

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
