import { setTimeout as pause } from "node:timers/promises";

/** Waits for what has no event of its own; a throw counts as "not yet". `longestMs` only ends a wait that hangs. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  longestMs = 240_000,
  everyMs = 10,
): Promise<void> {
  const endMs = performance.now() + longestMs;
  let cause: unknown;
  for (;;) {
    try {
      if (await holds()) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > endMs) throw new Error(`not within ${longestMs} ms: ${what}`, { cause });
    await pause(everyMs);
  }
}
