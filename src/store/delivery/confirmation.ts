import { pause } from "../../async/timers.ts";

/** So many replicas must have what a call wrote, within so many ms. */
export interface Confirmation {
  replicas: number;
  timeoutMs: number;
}

/** The step was run, and too few replicas are known to have it. */
export class Unconfirmed extends Error {
  override readonly name = "Unconfirmed";
}

/**
 * WAIT blocks its connection, which others share: in slices, with pauses that let the others through. Replicas that are
 * there confirm within a round trip; that a slice is over, an idle server notices only at its next tick (hz 10: 100 ms).
 */
const SLICE_MS = 10;
const TICK_MS = 110;
const LONGEST_PAUSE_MS = 50;

/**
 * Resolves when enough replicas confirm what the connection has written so far. `wait` sends WAIT there, and rejects
 * when it is no longer the same connection: a new one has written nothing, and every replica confirms that.
 */
export async function confirmed(
  { replicas, timeoutMs }: Confirmation,
  wait: (words: [replicas: string, sliceMs: string]) => Promise<unknown>,
): Promise<void> {
  const untilMs = performance.now() + timeoutMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const count = Number(await wait([String(replicas), String(SLICE_MS)]));
    if (count >= replicas) return;
    if (performance.now() + pauseMs + TICK_MS > untilMs)
      throw new Unconfirmed(`${count} of ${replicas} replicas confirmed the step within ${timeoutMs} ms`);
    await pause(pauseMs);
  }
}
