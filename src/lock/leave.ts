import { script } from "../generated/lock/leave.ts";
import type { Operation } from "../store/contract.ts";
import { holdOf, queueKeyOf } from "./keys.ts";
import { firstOf, handOn, readQueue, without, writeQueue } from "./queue.ts";

/** Gives up a process's place among those who wait for a lock; law in lua/lock/leave.lua. */
export const leave: Operation<string, void> = {
  name: "lock/leave",
  script,
  arity: 1,
  keyCount: 2,
  keysOf: (key) => [key, queueKeyOf(key)],
  repeatable: true,
  encode: (id) => [id],
  decode: () => undefined,
  local(keys, key, id, nowMs) {
    const queue = readQueue(keys, key, nowMs);
    if (!queue.places.includes(id)) return;
    const isPromised = firstOf(queue.places) === id && queue.promisedUntilMs >= nowMs;
    queue.places = without(queue.places, id);
    if (isPromised) queue.promisedUntilMs = 0;
    if (isPromised && queue.places !== "" && !holdOf(keys, key)) handOn(keys, key, queue, nowMs, false);
    else writeQueue(keys, key, queue, nowMs);
  },
};
