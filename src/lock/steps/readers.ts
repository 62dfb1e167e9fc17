import { READERS_COUNT_AT, READERS_UNTIL_MS_AT } from "../../generated/layouts/lock.ts";
import {
  acquireSharedScript,
  extendSharedScript,
  readersScript,
  releaseSharedScript,
} from "../../generated/scripts/lock.ts";
import type { Keyspace, Operation } from "../../store/contract.ts";
import { textBytes } from "../../store/memory/heap-bytes.ts";
import { acquire, decodeAcquired, enter, raiseFence } from "./acquire.ts";
import { extend } from "./extend.ts";
import type { HoldSteps } from "./hold-steps.ts";
import { fenceKeyOf, holdOf, queueKeyOf, readersKeyOf, writerChannelOf } from "./keys.ts";
import { notifyNext, without, writeQueue } from "./queue.ts";
import { release } from "./release.ts";

/** The end of each reader's lease by its token, under the key of the readers in a memory store. */
type Readers = ReadonlyMap<string, number>;

/** A reader in the heap, without its token. */
const READER_BYTES = 64;

const readersOf = (keys: Keyspace, lockKey: string) =>
  (keys.get(readersKeyOf(lockKey)) as Readers | undefined) ?? (new Map() as Readers);

function setReaders(keys: Keyspace, lockKey: string, readers: Readers): void {
  const key = readersKeyOf(lockKey);
  if (readers.size === 0) {
    keys.delete(key);
    return;
  }
  let sizeBytes = 0;
  for (const token of readers.keys()) sizeBytes += textBytes(token) + READER_BYTES;
  keys.set(key, readers, sizeBytes, Math.max(...readers.values()));
}

/** The steps of readers' holds. lua/lock/acquire-shared.lua, extend-shared.lua and release-shared.lua state the rules. */
export const shared: HoldSteps = {
  isShared: true,
  acquire: {
    ...acquire,
    name: "lock/acquire-shared",
    script: acquireSharedScript,
    keyCount: 4,
    keysOf: (key) => [key, fenceKeyOf(key), queueKeyOf(key), readersKeyOf(key)],
    decode: decodeAcquired,
    local(keys, key, { token, leaseMs, id }, nowMs) {
      const readers = new Map(readersOf(keys, key));
      const beforeMs = readers.get(token) ?? -1;
      if (beforeMs >= nowMs) {
        setReaders(keys, key, readers.set(token, Math.max(beforeMs, nowMs + leaseMs)));
        return { fence: (keys.get(fenceKeyOf(key)) as number | undefined) ?? 0 };
      }
      const entry = enter(keys, key, { token, id }, nowMs);
      if ("retryInMs" in entry) return entry;
      const fence = raiseFence(keys, key, entry.before, nowMs);
      for (const [each, endMs] of readers) if (endMs < nowMs) readers.delete(each);
      setReaders(keys, key, readers.set(token, nowMs + leaseMs));
      const { queue } = entry;
      if (queue.places === "") return { fence };
      const places = id === "" ? queue.places : without(queue.places, id);
      if (places === "") writeQueue(keys, key, { ...queue, reservedUntilMs: 0, places }, nowMs);
      else notifyNext(keys, key, { ...queue, places }, nowMs, false);
      return { fence };
    },
  },
  extend: {
    ...extend,
    name: "lock/extend-shared",
    script: extendSharedScript,
    keyCount: 2,
    keysOf: (key) => [key, readersKeyOf(key)],
    local(keys, key, { token, leaseMs }, nowMs) {
      const readers = new Map(readersOf(keys, key));
      const beforeMs = readers.get(token) ?? -1;
      if (beforeMs < nowMs) return false;
      setReaders(keys, key, readers.set(token, Math.max(beforeMs, nowMs + leaseMs)));
      return true;
    },
  },
  release: {
    ...release,
    name: "lock/release-shared",
    script: releaseSharedScript,
    keysOf: (key) => [key, readersKeyOf(key)],
    local(keys, key, { token }, nowMs) {
      const readers = new Map(readersOf(keys, key));
      const endMs = readers.get(token) ?? -1;
      if (readers.delete(token)) setReaders(keys, key, readers);
      if (endMs < nowMs) return false;
      const isLast = ![...readers.values()].some((each) => each >= nowMs);
      if (isLast && holdOf(keys, key)) keys.publish(writerChannelOf(key), "");
      return true;
    },
  },
};

/** Readers of a lock now, and ms until the last of their leases has ended. */
export interface ReaderState {
  count: number;
  untilMs: number;
}

/** Reads how many readers hold a lock, and for how long. lua/lock/readers.lua states the rules. */
export const readers: Operation<void, ReaderState> = {
  name: "lock/readers",
  script: readersScript,
  arity: 0,
  keyCount: 2,
  keysOf: (key) => [key, readersKeyOf(key)],
  repeatable: true,
  encode: () => [],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    return { count: view.getUint32(READERS_COUNT_AT, true), untilMs: view.getFloat64(READERS_UNTIL_MS_AT, true) };
  },
  local(keys, key, _input, nowMs) {
    const endsMs = [...readersOf(keys, key).values()].filter((endMs) => endMs >= nowMs);
    return { count: endsMs.length, untilMs: endsMs.length === 0 ? 0 : Math.max(...endsMs) - nowMs + 1 };
  },
};
