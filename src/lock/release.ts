import { script } from "../generated/lock/release.ts";
import type { Operation } from "../store/contract.ts";
import { holdOf, queueKeyOf } from "./keys.ts";
import { handOn, readQueue, withFirst, withPlace } from "./queue.ts";

export interface Release {
  token: string;
  /** The releasing process, if others wait in it, else "". */
  id: string;
  /** It asks right behind this call, and is the first; else it is the last. */
  isNext: boolean;
}

/**
 * Frees a lock, if it is still held by the token; law in lua/lock/release.lua. Harmless when repeated, but the second
 * answer would say "not held" of what the first has freed: whoever sends it again knows what to make of that.
 */
export const release: Operation<Release, boolean> = {
  name: "lock/release",
  script,
  arity: 3,
  keyCount: 2,
  keysOf: (key) => [key, queueKeyOf(key)],
  repeatable: false,
  encode: ({ token, id, isNext }) => [token, id, isNext ? 1 : 0],
  decode: (reply) => reply[0] === 1,
  local(keys, key, { token, id, isNext }, nowMs) {
    if (holdOf(keys, key)?.token !== token) return false;
    const queue = readQueue(keys, key, nowMs);
    if (id !== "") queue.places = (isNext ? withFirst : withPlace)(queue.places, id, nowMs);
    keys.delete(key);
    handOn(keys, key, queue, nowMs, isNext);
    return true;
  },
};
