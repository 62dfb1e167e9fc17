import { pause } from "../../base/async/timers.ts";

/** Number of replicas that must confirm a call's writes, and the time in ms within which they must. */
export interface Confirmation {
  replicas: number;
  timeoutMs: number;
  /** The time of all attempts. An error names it, because a step that is repeated had more time than the last attempt. */
  deadlineMs: number;
}

/** The step ran, but too few replicas confirmed it. */
export class Unconfirmed extends Error {
  override readonly name = "Unconfirmed";
}

/**
 * WAIT blocks its connection, which other calls share. So it is sent in slices, with pauses that let other calls
 * through. Connected replicas confirm within a round trip. An idle server notices the end of a slice only at its next
 * tick (100 ms at hz 10).
 */
const SLICE_MS = 10;
const TICK_MS = 110;
const MAX_PAUSE_MS = 50;

/**
 * Resolves when enough replicas confirm all writes of the connection so far. `wait` sends WAIT on that connection. It
 * rejects if the connection was replaced, because WAIT on a new connection covers none of these writes.
 */
export async function confirmed(
  { replicas, timeoutMs, deadlineMs }: Confirmation,
  wait: (words: [replicas: string, sliceMs: string]) => Promise<unknown>,
): Promise<void> {
  const untilMs = performance.now() + timeoutMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    const count = Number(await wait([String(replicas), String(SLICE_MS)]));
    if (count >= replicas) return;
    if (performance.now() + pauseMs + TICK_MS > untilMs)
      throw new Unconfirmed(`${count} of ${replicas} replicas confirmed the step within ${deadlineMs} ms`);
    await pause(pauseMs);
  }
}
