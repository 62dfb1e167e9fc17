import { ACQUIRED_BYTES, ACQUIRED_RETRY_IN_MS_AT, ACQUIRED_STATUS_AT, STATUS } from "../generated/layouts/semaphore.ts";
import { acquireScript, extendScript, releaseScript } from "../generated/scripts/semaphore.ts";
import type { Keyspace, Operation, Store } from "../store/contract.ts";
import { textBytes } from "../store/memory/heap-bytes.ts";

interface PermitHold {
  token: string;
  /** The numbers of its permits, at least one. */
  numbers: readonly number[];
}

interface PermitLease extends PermitHold {
  leaseMs: number;
}

/** The answer to a request for a hold of permits on one of several servers. */
export type AcquireAnswer = { isHeld: true } | Refusal;

export interface Refusal {
  isHeld: false;
  /** After this time a retry is worthwhile. */
  retryInMs: number;
  /** The numbers in use on this server. */
  busy: readonly number[];
}

/** The holds under the key of a semaphore in a memory store, by token. */
type Holds = ReadonlyMap<string, { numbers: readonly number[]; endMs: number }>;

/** A hold in the heap, without its token. */
const HOLD_BYTES = 96;

/** The key of the permits in use on one of several servers. */
export function numberedKeyOf(store: Store, name: string): string {
  return `semaphore:${store.keyOf(name)}`;
}

/** The channel on which the release of permits is published. */
export function releasesOf(key: string): string {
  return `unlock:${key}`;
}

/** Acquires permits with these numbers for a token if they are free. lua/semaphore/acquire.lua states the rules. */
export const acquire: Operation<PermitLease, AcquireAnswer> = {
  name: "semaphore/acquire",
  script: acquireScript,
  arity: 3,
  keyCount: 1,
  repeatable: true,
  encode: ({ token, leaseMs, numbers }) => [token, leaseMs, numbers.join()],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    if (view.getUint8(ACQUIRED_STATUS_AT) === STATUS.acquired) return { isHeld: true };
    const busy = new TextDecoder().decode(reply.subarray(ACQUIRED_BYTES)).match(/\d+/g) ?? [];
    return { isHeld: false, retryInMs: view.getFloat64(ACQUIRED_RETRY_IN_MS_AT, true), busy: busy.map(Number) };
  },
  local(keys, key, { token, leaseMs, numbers }, nowMs) {
    const live = new Map([...holdsOf(keys, key)].filter(([, { endMs }]) => endMs >= nowMs));
    const byEnd = [...live.values()].sort((a, b) => a.endMs - b.endMs);
    const busy = byEnd.flatMap((each) => each.numbers);
    if (!live.has(token) && numbers.some((each) => busy.includes(each))) {
      if (live.size < holdsOf(keys, key).size) setHolds(keys, key, live);
      return { isHeld: false, retryInMs: byEnd[0]!.endMs - nowMs + 1, busy };
    }
    setHolds(keys, key, extended(live, token, numbers, nowMs + leaseMs));
    return { isHeld: true };
  },
};

/** Extends a hold to last at least until now + lease, if it is still held. lua/semaphore/extend.lua states the rules. */
export const extend: Operation<PermitLease, boolean> = {
  name: "semaphore/extend",
  script: extendScript,
  arity: 3,
  keyCount: 1,
  repeatable: true,
  encode: ({ token, leaseMs, numbers }) => [token, leaseMs, numbers.join()],
  decode: (reply) => reply[0] === 1,
  local(keys, key, { token, leaseMs, numbers }, nowMs) {
    const holds = holdsOf(keys, key);
    if ((holds.get(token)?.endMs ?? -1) < nowMs) return false;
    setHolds(keys, key, extended(holds, token, numbers, nowMs + leaseMs));
    return true;
  },
};

/** Releases the permits of a token, and notifies waiters. lua/semaphore/release.lua states the rules. */
export const release: Operation<PermitHold & { notice: string }, boolean> = {
  name: "semaphore/release",
  script: releaseScript,
  arity: 3,
  keyCount: 1,
  repeatable: false,
  encode: ({ token, numbers, notice }) => [token, numbers.join(), notice],
  decode: (reply) => reply[0] === 1,
  local(keys, key, { token, notice }, nowMs) {
    const holds = new Map(holdsOf(keys, key));
    const wasHeld = (holds.get(token)?.endMs ?? -1) >= nowMs;
    if (holds.delete(token)) setHolds(keys, key, holds);
    if (wasHeld && notice !== "") keys.publish(releasesOf(key), notice);
    return wasHeld;
  },
};

export function holdsOf(keys: Keyspace, key: string): Holds {
  return (keys.get(key) as Holds | undefined) ?? new Map();
}

function extended(holds: Holds, token: string, numbers: readonly number[], endMs: number): Holds {
  return new Map(holds).set(token, { numbers, endMs: Math.max(endMs, holds.get(token)?.endMs ?? 0) });
}

function setHolds(keys: Keyspace, key: string, holds: Holds): void {
  if (holds.size === 0) {
    keys.delete(key);
    return;
  }
  let sizeBytes = 0;
  for (const [token, { numbers }] of holds) sizeBytes += textBytes(token) + 8 * numbers.length + HOLD_BYTES;
  keys.set(key, holds, sizeBytes, Math.max(...[...holds.values()].map(({ endMs }) => endMs)));
}
