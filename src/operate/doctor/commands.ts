import { calls } from "../../generated/calls.ts";

/**
 * The arguments of each command after the key, which is a string "0" with an expiry. No command of a list changes it:
 * commands for hashes, sorted sets and streams answer WRONGTYPE.
 */
export const AFTER_KEY: Readonly<Record<string, readonly string[]>> = {
  APPEND: [""],
  DEL: [],
  EXISTS: [],
  GET: [],
  GETRANGE: ["0", "0"],
  HDEL: ["f"],
  HEXISTS: ["f"],
  HGET: ["f"],
  HINCRBY: ["f", "1"],
  HLEN: [],
  HMGET: ["f"],
  HSCAN: ["0"],
  HSET: ["f", "1"],
  INCRBY: ["0"],
  PEXPIRETIME: [],
  PTTL: [],
  SETRANGE: ["0", ""],
  STRLEN: [],
  TYPE: [],
  XADD: ["*", "f", "1"],
  XREVRANGE: ["+", "-"],
  ZADD: ["1", "m"],
  ZCARD: [],
  ZCOUNT: ["0", "0"],
  ZMSCORE: ["m"],
  ZRANGE: ["0", "0"],
  ZREM: ["m"],
  ZREMRANGEBYRANK: ["0", "0"],
  ZREMRANGEBYSCORE: ["0", "0"],
  ZSCORE: ["m"],
};

/** Commands whose probe has other arguments. */
export const OTHERS = ["COPY", "PERSIST", "PEXPIREAT", "PUBLISH", "RENAME", "SET", "TIME"];

/** The commands that the scripts of each structure send, in alphabetical order. */
export const COMMANDS_OF: Readonly<Record<string, readonly string[]>> = {
  Series: commandsIn(calls.journal),
  SeriesGroup: commandsIn([...new Set([...calls.journal, ...calls.groups])].sort()),
  Limiter: commandsIn(calls.limiter),
  Lock: commandsIn(calls.hold),
  Semaphore: commandsIn(calls.hold),
  LockedWindow: commandsIn(calls["locked-window"]),
  Counters: commandsIn(calls.counter),
  DelayQueue: commandsIn(calls.queue),
  Breaker: commandsIn(calls.breaker),
  FleetMetrics: commandsIn(calls.fleet),
  Dashboard: commandsIn(calls.history),
};

/** Upper-case strings that are no commands are among the calls. */
function commandsIn(called: readonly string[]): string[] {
  return called.filter((name) => name in AFTER_KEY || OTHERS.includes(name));
}
