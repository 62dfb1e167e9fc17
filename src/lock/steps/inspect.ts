import {
  ID_LENGTH,
  INSPECTED_BYTES,
  INSPECTED_FENCE_AT,
  INSPECTED_LEFT_MS_AT,
  INSPECTED_WAITING_AT,
  PLACE_LENGTH,
} from "../../generated/layouts/lock.ts";
import { inspectScript } from "../../generated/scripts/lock.ts";
import type { Keyspace, Operation } from "../../store/contract.ts";
import { fenceKeyOf, holdOf, queueKeyOf } from "./keys.ts";
import { msIn, readQueue } from "./queue.ts";

export interface Inspected {
  /** "" if the lock is free. */
  token: string;
  /** Of the last hold; 0 if none is known. */
  fence: number;
  /** 0 if the lock is free; -1 if the hold never expires. */
  leftMs: number;
  waiting: number;
}

/** Reads the state of a lock. lua/lock/inspect.lua states the rules. */
export const inspect: Operation<void, Inspected> = {
  name: "lock/inspect",
  script: inspectScript,
  arity: 0,
  keyCount: 3,
  keysOf: (key) => [key, fenceKeyOf(key), queueKeyOf(key)],
  repeatable: true,
  encode: () => [],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    return {
      token: new TextDecoder().decode(reply.subarray(INSPECTED_BYTES)),
      fence: view.getFloat64(INSPECTED_FENCE_AT, true),
      leftMs: view.getFloat64(INSPECTED_LEFT_MS_AT, true),
      waiting: view.getUint16(INSPECTED_WAITING_AT, true),
    };
  },
  local(keys, key, _input, nowMs) {
    const hold = holdOf(keys, key);
    return {
      token: hold?.token ?? "",
      fence: (keys.get(fenceKeyOf(key)) as number | undefined) ?? 0,
      leftMs: hold ? hold.expireAtMs - nowMs : 0,
      waiting: waitingIn(keys, key, nowMs),
    };
  },
};

function waitingIn(keys: Keyspace, lockKey: string, nowMs: number): number {
  const { places } = readQueue(keys, lockKey, nowMs);
  let waiting = 0;
  for (let at = 0; at < places.length; at += PLACE_LENGTH)
    if (msIn(queueKeyOf(lockKey), places, at + ID_LENGTH) >= nowMs) waiting++;
  return waiting;
}
