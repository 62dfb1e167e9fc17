import { corruptError } from "../../errors.ts";
import {
  ACQUIRED_NUMBER_AT,
  ACQUIRED_STATUS_AT,
  DAY_MS,
  DAY_US,
  FENCE_LIFE_MS,
  FOREIGN_POLL_MS,
  MAX_FENCE,
  STATUS,
} from "../../generated/layouts/lock.ts";
import { acquireScript } from "../../generated/scripts/lock.ts";
import type { Keyspace, Operation } from "../../store/contract.ts";
import type { HoldRequest } from "./extend.ts";
import { fenceKeyOf, type Hold, holdOf, OUR_TOKENS, queueKeyOf, setHold } from "./keys.ts";
import { type Queue, readQueue, without, withPlace, writeQueue } from "./queue.ts";
import { reserveForAnother } from "./reservation.ts";

export interface AcquireStep extends HoldRequest {
  /** Id of the process if it waits after a refusal, else "". */
  id: string;
}

/** The hold's fence; or, after a refusal, the time until a retry is worthwhile. */
export type AcquireResult = { fence: number } | { retryInMs: number };

/** Acquires a lock for a token, unless it is held by or reserved for another. lua/lock/acquire.lua states the rules. */
export const acquire: Operation<AcquireStep, AcquireResult> = {
  name: "lock/acquire",
  script: acquireScript,
  arity: 3,
  keyCount: 3,
  keysOf: (key) => [key, fenceKeyOf(key), queueKeyOf(key)],
  repeatable: true,
  encode: ({ token, leaseMs, id }) => [token, leaseMs, id],
  decode: decodeAcquired,
  local(keys, key, { token, leaseMs, id }, nowMs) {
    const hold = holdOf(keys, key);
    const entry = enter(keys, key, { token, id }, nowMs);
    if ("retryInMs" in entry) return entry;
    const { queue, before } = entry;
    const fence = hold && before !== undefined ? before : raiseFence(keys, key, before, nowMs);
    setHold(keys, key, token, Math.max(nowMs + leaseMs, hold?.expireAtMs ?? 0));
    if (!hold && queue.places !== "") {
      const places = id === "" ? queue.places : without(queue.places, id);
      writeQueue(keys, key, { ...queue, reservedUntilMs: 0, places }, nowMs);
    }
    return { fence };
  },
};

export function decodeAcquired(reply: Uint8Array): AcquireResult {
  const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
  const number = view.getFloat64(ACQUIRED_NUMBER_AT, true);
  return view.getUint8(ACQUIRED_STATUS_AT) === STATUS.acquired ? { fence: number } : { retryInMs: number };
}

/** The twin of lua/lock/enter.lua: the queue and the last fence if the caller may have the lock. */
export function enter(
  keys: Keyspace,
  key: string,
  { token, id }: Pick<AcquireStep, "token" | "id">,
  nowMs: number,
): { retryInMs: number } | { queue: Queue; before: number | undefined } {
  const hold = holdOf(keys, key);
  const queue = readQueue(keys, key, nowMs);
  const retryInMs = hold ? heldForMs(hold, token, nowMs) : reservedForMs(keys, key, queue, id, nowMs);
  if (retryInMs > 0) {
    const isReservedNow = !hold && queue.reservedUntilMs < nowMs;
    if (!isReservedNow && id !== "")
      writeQueue(keys, key, { ...queue, places: withPlace(queue.places, id, nowMs) }, nowMs);
    return { retryInMs };
  }
  const fenceKey = fenceKeyOf(key);
  const before = keys.get(fenceKey) as number | undefined;
  if (before !== undefined && !(Number.isSafeInteger(before) && before >= 0 && before < MAX_FENCE))
    throw corruptError(fenceKey, "the last fence is not an integer below 2^53 - 1");
  return { queue, before };
}

/** Raises the last fence, as lua/lock/enter.lua does. Returns the new fence. */
export function raiseFence(keys: Keyspace, key: string, before: number | undefined, nowMs: number): number {
  const fence = Math.max((before ?? 0) + 1, nowMs * 1000);
  keys.set(fenceKeyOf(key), fence, 16, (Math.floor(fence / DAY_US) + 1) * DAY_MS + FENCE_LIFE_MS);
  return fence;
}

/** Ms until a retry is worthwhile. 0 if the lock is not reserved for another. */
function reservedForMs(keys: Keyspace, key: string, queue: Queue, id: string, nowMs: number): number {
  const untilMs = reserveForAnother(keys, key, queue, id, nowMs);
  return untilMs > 0 ? untilMs - nowMs + 1 : 0;
}

function heldForMs(hold: Hold, token: string, nowMs: number): number {
  if (hold.token === token) return 0;
  const leftMs = hold.expireAtMs - nowMs + 1;
  return hold.token.startsWith(OUR_TOKENS) ? leftMs : Math.min(leftMs, FOREIGN_POLL_MS);
}
