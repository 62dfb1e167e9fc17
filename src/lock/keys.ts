import type { Keyspace, Store } from "../store/contract.ts";
import { textBytes } from "../store/memory/heap-bytes.ts";

/** Begins the tokens of our holders, who publish when they go; other holders do not. */
export const OUR_TOKENS = "oriel:";

const LOCK = "mutex:";

/** The key of redis-semaphore's `new Mutex(client, store.keyOf(name))`, so that the two exclude each other. */
export function lockKeyOf(store: Store, name: string): string {
  return LOCK + store.keyOf(name);
}

/** Where the last fence is kept; in the lock's slot. */
export function fenceKeyOf(lockKey: string): string {
  return `fence:${lockKey.slice(LOCK.length)}`;
}

/** Where the processes that wait stand; in the lock's slot. */
export function queueKeyOf(lockKey: string): string {
  return `waiting:${lockKey.slice(LOCK.length)}`;
}

/** The channel on which a process that waits is called. */
export function channelOf(lockKey: string, id: string): string {
  return `unlock:${lockKey.slice(LOCK.length)}:${id}`;
}

/** More than a place among those who wait, so that a release that adds one needs no room in a full store. */
const HOLD_BYTES = 144;

/** What a memory store keeps under a lock's key. */
export interface Hold {
  readonly token: string;
  readonly expireAtMs: number;
}

export function holdOf(keys: Keyspace, lockKey: string): Hold | undefined {
  return keys.get(lockKey) as Hold | undefined;
}

export function setHold(keys: Keyspace, lockKey: string, token: string, expireAtMs: number): void {
  keys.set(lockKey, { token, expireAtMs } satisfies Hold, textBytes(token) + HOLD_BYTES, expireAtMs);
}
