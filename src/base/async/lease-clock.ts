import type { Clock } from "../time.ts";
import { sleptMs } from "./sleep.ts";

/**
 * A clock in ms that never steps back and includes the time that the machine slept. After a sleep, a lock or a lease
 * that the process held may be over.
 */
export function leaseClock(monotonic: Clock = () => performance.now(), wall: Clock = Date.now): Clock {
  let totalSleptMs = 0;
  let lastMs = monotonic();
  let lastWallMs = wall();
  return () => {
    const nowMs = monotonic();
    const wallMs = wall();
    totalSleptMs += sleptMs(wallMs - lastWallMs, nowMs - lastMs);
    lastMs = nowMs;
    lastWallMs = wallMs;
    return nowMs + totalSleptMs;
  };
}
