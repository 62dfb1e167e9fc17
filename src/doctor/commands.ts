import * as breaker from "../generated/scripts/breaker.ts";
import * as counter from "../generated/scripts/counter.ts";
import * as fleet from "../generated/scripts/fleet.ts";
import * as journal from "../generated/scripts/journal.ts";
import * as limiter from "../generated/scripts/limiter.ts";
import * as lock from "../generated/scripts/lock.ts";
import * as lockedWindow from "../generated/scripts/locked-window.ts";
import * as queue from "../generated/scripts/queue.ts";
import * as summary from "../generated/scripts/summary.ts";
import type { Script } from "../store/contract.ts";

/** A call by redis.call, redis.pcall, or a local name of one of them. */
const CALL = /\b(?:p?call|try)\(\s*["']([A-Z]+)["']/g;

/** The commands that the scripts of each structure send, in alphabetical order. */
export const COMMANDS_OF: Readonly<Record<string, readonly string[]>> = {
  Series: commandsIn(journal, summary),
  Limiter: commandsIn(limiter),
  Lock: commandsIn(lock),
  LockedWindow: commandsIn(lockedWindow),
  Counters: commandsIn(counter),
  DelayQueue: commandsIn(queue),
  Breaker: commandsIn(breaker),
  FleetMetrics: commandsIn(fleet),
};

function commandsIn(...rooms: readonly Record<string, Script>[]): string[] {
  const texts = rooms.flatMap((room) => Object.values(room).map(({ text }) => text));
  const all = texts.flatMap((text) => [...text.matchAll(CALL)].map(([, name = ""]) => name));
  return [...new Set(all.map((name) => name.toUpperCase()))].sort();
}
