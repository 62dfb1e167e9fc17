import { leaveScript } from "../../generated/scripts/lock.ts";
import type { Operation } from "../../store/contract.ts";
import { holdOf, queueKeyOf } from "./keys.ts";
import { firstOf, notifyNext, readQueue, without, writeQueue } from "./queue.ts";

/** Gives up a process's place in the queue of a lock. lua/lock/leave.lua states the rules. */
export const leave: Operation<string, void> = {
  name: "lock/leave",
  script: leaveScript,
  arity: 1,
  keyCount: 2,
  keysOf: (key) => [key, queueKeyOf(key)],
  repeatable: true,
  encode: (id) => [id],
  decode: () => undefined,
  local(keys, key, id, nowMs) {
    const queue = readQueue(keys, key, nowMs);
    if (!queue.places.includes(id)) return;
    const isReserved = firstOf(queue.places) === id && queue.reservedUntilMs >= nowMs;
    queue.places = without(queue.places, id);
    if (isReserved) queue.reservedUntilMs = 0;
    if (isReserved && queue.places !== "" && !holdOf(keys, key)) notifyNext(keys, key, queue, nowMs, false);
    else writeQueue(keys, key, queue, nowMs);
  },
};
