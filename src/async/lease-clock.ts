import type { Clock } from "../time.ts";

/** By less than that the two clocks differ while nothing sleeps. */
const SLEPT_MS = 1000;

/**
 * Ms that never step back and count what was slept: a machine, an isolate or a function that was frozen wakes with a wall
 * clock that went on and a monotonic one that may not have, and what it held may be over. A wall clock that is set forward
 * counts as sleep.
 */
export function leaseClock(monotonic: Clock = () => performance.now(), wall: Clock = Date.now): Clock {
  let sleptMs = 0;
  let lastMs = monotonic();
  let lastWallMs = wall();
  return () => {
    const nowMs = monotonic();
    const wallMs = wall();
    const moreMs = wallMs - lastWallMs - (nowMs - lastMs);
    if (moreMs > SLEPT_MS) sleptMs += moreMs;
    lastMs = nowMs;
    lastWallMs = wallMs;
    return nowMs + sleptMs;
  };
}
