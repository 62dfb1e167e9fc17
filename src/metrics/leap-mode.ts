import { argumentError } from "../errors.ts";

/**
 * Which buckets an answer at `now` is made of. "sentinel": a bucket exactly one interval old still counts, and so do those
 * ahead of a clock that stepped back. "exact": now - interval < start <= now. "future": now < start, for what is booked
 * ahead.
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
