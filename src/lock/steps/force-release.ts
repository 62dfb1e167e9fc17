import { forceReleaseScript } from "../../generated/scripts/lock.ts";
import type { Operation } from "../../store/contract.ts";
import { fenceKeyOf, holdOf, queueKeyOf } from "./keys.ts";
import { notifyNext, readQueue } from "./queue.ts";

/** Message of a notice after a release by an operator. Other notices are empty. */
export const FORCED = "forced";

/**
 * Frees a lock that has the given fence, or any holder if that is undefined. Answers false if there is no such hold.
 * lua/lock/force-release.lua states the rules.
 */
export const forceRelease: Operation<number | undefined, boolean> = {
  name: "lock/force-release",
  script: forceReleaseScript,
  arity: 1,
  keyCount: 3,
  keysOf: (key) => [key, fenceKeyOf(key), queueKeyOf(key)],
  repeatable: false,
  encode: (fence) => [fence ?? ""],
  decode: (reply) => reply[0] === 1,
  local(keys, key, fence, nowMs) {
    if (!holdOf(keys, key) || (fence !== undefined && keys.get(fenceKeyOf(key)) !== fence)) return false;
    const queue = readQueue(keys, key, nowMs);
    keys.delete(key);
    notifyNext(keys, key, queue, nowMs, false, FORCED);
    return true;
  },
};
