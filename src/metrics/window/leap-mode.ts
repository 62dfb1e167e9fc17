import { argumentError } from "../../base/errors.ts";

/**
 * The buckets that count in an answer at `now`.
 * "exact": buckets with now - interval < start <= now.
 * "sentinel": also a bucket exactly one interval old, and those ahead of a clock that stepped back.
 * "future": buckets with now < start, for events that are booked ahead.
 */
export type LeapMode = "sentinel" | "exact" | "future";

export function checkMode(mode: LeapMode, known: readonly LeapMode[]): LeapMode {
  if (!known.includes(mode)) throw argumentError("mode", mode, known.map((name) => `"${name}"`).join(" or "));
  return mode;
}

export function isDeprecated(mode: LeapMode, nowMs: number, startMs: number, intervalMs: number): boolean {
  if (mode === "future") return nowMs >= startMs;
  if (mode === "sentinel") return nowMs - startMs > intervalMs;
  return startMs > nowMs || nowMs - startMs >= intervalMs;
}
