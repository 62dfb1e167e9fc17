import type { Keyspace } from "../../store/contract.ts";
import { refusal } from "../../store/refusal.ts";
import { law } from "./law.ts";
import { KIND, type Looked, type Rule } from "./rule.ts";
import { RECORD_BYTES, SlidingLog } from "./sliding-log.ts";
import { stateOf, untilOf } from "./state.ts";

/** Exact sliding window; law in lua/limiter/sliding.lua. */
export function lookSliding(
  keys: Keyspace,
  key: string,
  { limit, spanMs }: Rule,
  nowMs: number,
  later: (change: () => void) => void,
): Looked {
  const log = stateOf<SlidingLog>(keys, key, KIND.sliding) ?? new SlidingLog();
  const longestMs = Math.max(log.longestMs, spanMs);
  const atMs = Math.max(nowMs, log.newestMs);
  const used = log.usedAfter(atMs - spanMs);
  let newestMs = log.newestMs;
  const looked: Looked = {
    blockedUntilMs: untilOf(log.blockedUntilMs, nowMs),
    holdsUntilMs: untilOf(log.holdsUntilMs, nowMs),
    used,
    free: limit - used,
    waitMs(permits) {
      if (permits > limit) return Infinity;
      const needed = looked.used + permits - limit;
      return (needed > used ? atMs : log.timeOfRelease(atMs - spanMs, needed)) + spanMs - nowMs;
    },
    resetMs: () => (looked.used > 0 ? newestMs + spanMs - nowMs : 0),
    put(calls, cost) {
      if (calls * cost === 0) return;
      if (log.recordsAfter(atMs - longestMs) >= law.mostRecords)
        throw refusal("OVERLOADED", `permits were taken in ${law.mostRecords} ms of the window, the most it can hold`);
      const permits = Math.min(calls * cost, 2 ** 48 - 1 - log.usedAfter(atMs - longestMs));
      newestMs = atMs;
      looked.used += permits;
      set(atMs + longestMs, RECORD_BYTES);
      later(() => log.put(atMs, permits, atMs - longestMs));
    },
    back(permits) {
      const given = Math.min(permits, looked.used);
      if (given === 0) return;
      looked.used -= given;
      newestMs = log.newestAfterBack(given, atMs);
      set(newestMs + longestMs, 0);
      later(() => log.back(given, atMs));
    },
    write: () => set(newestMs + longestMs, 0),
  };
  /** The log is changed in place when all keys of the step are set: a step that a full store refuses has changed nothing. */
  function set(endsMs: number, moreBytes: number): void {
    const { blockedUntilMs, holdsUntilMs } = looked;
    const expireAtMs = Math.max(endsMs, blockedUntilMs, holdsUntilMs);
    if (expireAtMs > nowMs) keys.set(key, log, log.sizeBytes + moreBytes, expireAtMs);
    else keys.delete(key);
    later(() => Object.assign(log, { longestMs, blockedUntilMs, holdsUntilMs }));
  }
  return looked;
}
