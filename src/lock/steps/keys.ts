import type { Keyspace, Store } from "../../store/contract.ts";
import { textBytes } from "../../store/memory/heap-bytes.ts";

/** Prefix of the tokens of oriel's holders. They publish their release; other holders do not. */
export const OUR_TOKENS = "oriel:";

const LOCK = "mutex:";

/** The key of redis-semaphore's `new Mutex(client, store.keyOf(name))`, so that both exclude each other. */
export function lockKeyOf(store: Store, name: string): string {
  return LOCK + store.keyOf(name);
}

/** The key of the last fence, in the lock's slot. */
export function fenceKeyOf(lockKey: string): string {
  return `fence:${lockKey.slice(LOCK.length)}`;
}

/** The key of the queue of waiting processes, in the lock's slot. */
export function queueKeyOf(lockKey: string): string {
  return `waiting:${lockKey.slice(LOCK.length)}`;
}

/** The lock of the writers of a `ReadWriteLock`. It differs from that of a `Lock` with the same name, which knows no readers. */
export function writeKeyOf(store: Store, name: string): string {
  return `${lockKeyOf(store, name)}:rw`;
}

/** The key of the readers, in the slot of the writers' lock. */
export function readersKeyOf(lockKey: string): string {
  return `${lockKey.slice(LOCK.length)}:readers`;
}

/** The channel on which a writer is notified when the last reader has left. */
export function writerChannelOf(lockKey: string): string {
  return channelOf(lockKey, "writer");
}

/** The channel on which a waiting process is notified. */
export function channelOf(lockKey: string, id: string): string {
  return `unlock:${lockKey.slice(LOCK.length)}:${id}`;
}

/** More than a place in the queue takes, so that a release that adds one fits into a full store. */
const HOLD_BYTES = 144;

/** The value under a lock's key in a memory store. */
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
