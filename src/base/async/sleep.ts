/** The wall clock and the monotonic clock differ by less than this while the machine is awake. */
const MIN_SLEEP_MS = 1000;

/**
 * How long the machine, the isolate or the function was frozen while the two clocks advanced by these times; 0 if it
 * was awake. After a sleep the wall clock has gone on, and the monotonic clock may not have. A sleep of up to 1 s goes
 * unnoticed. A wall clock that is set forward counts as sleep.
 */
export function sleptMs(wallElapsedMs: number, monotonicElapsedMs: number): number {
  const ms = wallElapsedMs - monotonicElapsedMs;
  return ms > MIN_SLEEP_MS ? ms : 0;
}
