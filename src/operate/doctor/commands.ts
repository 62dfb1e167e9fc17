import * as breaker from "../../generated/scripts/breaker.ts";
import * as counter from "../../generated/scripts/counter.ts";
import * as fleet from "../../generated/scripts/fleet.ts";
import * as history from "../../generated/scripts/history.ts";
import * as hold from "../../generated/scripts/hold.ts";
import * as journal from "../../generated/scripts/journal.ts";
import * as limiter from "../../generated/scripts/limiter.ts";
import * as lockedWindow from "../../generated/scripts/locked-window.ts";
import * as queue from "../../generated/scripts/queue.ts";
import type { Script } from "../../store/contract.ts";

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
  ZSCORE: ["m"],
};

/** Commands whose probe has other arguments. */
export const OTHERS = ["COPY", "PERSIST", "PEXPIREAT", "PUBLISH", "RENAME", "SET", "TIME"];

/** A call by redis.call or another name of it, as minifiers leave it. */
const CALL = /\w\(\s*["']([A-Z]+)["']/g;

/** The commands that the scripts of each structure send, in alphabetical order. */
export const COMMANDS_OF: Readonly<Record<string, readonly string[]>> = {
  Series: commandsIn(journal),
  Limiter: commandsIn(limiter),
  Lock: commandsIn(hold),
  Semaphore: commandsIn(hold),
  LockedWindow: commandsIn(lockedWindow),
  Counters: commandsIn(counter),
  DelayQueue: commandsIn(queue),
  Breaker: commandsIn(breaker),
  FleetMetrics: commandsIn(fleet),
  Dashboard: commandsIn(history),
};

function commandsIn(...rooms: readonly Record<string, Script>[]): string[] {
  const texts = rooms.flatMap((room) => Object.values(room).map(({ text }) => text));
  const names = texts.flatMap((text) => [...text.matchAll(CALL)].map(([, name = ""]) => name));
  return [...new Set(names)].filter((name) => name in AFTER_KEY || OTHERS.includes(name)).sort();
}
