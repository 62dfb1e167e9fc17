import { releaseScript } from "../../generated/scripts/lock.ts";
import type { Operation } from "../../store/contract.ts";
import { holdOf, queueKeyOf } from "./keys.ts";
import { notifyNext, readQueue, withFirst, withPlace } from "./queue.ts";

export interface Release {
  token: string;
  /** Id of the releasing process if callers wait in it, else "". */
  id: string;
  /** True: it sends a request right after this call, and gets the first place. False: it gets the last place. */
  isNext: boolean;
  /** True: an operator releases the lock. */
  isForced?: boolean;
}

/** Message of a notice after a release by an operator. Other notices are empty. */
export const FORCED = "forced";

/**
 * Frees a lock if the token still holds it. lua/lock/release.lua states the rules. A repeated call does no harm, but answers
 * false after the first has freed the lock. The caller that repeats it takes that into account.
 */
export const release: Operation<Release, boolean> = {
  name: "lock/release",
  script: releaseScript,
  arity: 3,
  keyCount: 2,
  keysOf: (key) => [key, queueKeyOf(key)],
  repeatable: false,
  encode: ({ token, id, isNext, isForced }) => [token, id, isForced ? 2 : isNext ? 1 : 0],
  decode: (reply) => reply[0] === 1,
  local(keys, key, { token, id, isForced, ...call }, nowMs) {
    const isNext = call.isNext && !isForced;
    if (holdOf(keys, key)?.token !== token) return false;
    const queue = readQueue(keys, key, nowMs);
    if (id !== "") queue.places = (isNext ? withFirst : withPlace)(queue.places, id, nowMs);
    keys.delete(key);
    notifyNext(keys, key, queue, nowMs, isNext, isForced ? FORCED : "");
    return true;
  },
};
