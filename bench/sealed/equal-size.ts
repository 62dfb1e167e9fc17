import type { Summary } from "../rivals/summary/summary.ts";

/** Near enough to the wanted bytes, as a share of them. */
const TOLERANCE = 0.005;
const MOST_STEPS = 40;

interface Sized {
  setting: number;
  stored: Uint8Array;
}

/**
 * The summary whose size is nearest to `bytes`. It has fewer if it does not grow any more, because it holds each different value by
 * itself.
 */
export function ofSize(summary: Summary, values: Float32Array, bytes: number): Sized {
  let best: Sized = { setting: summary.usual, stored: summary.encode(values, summary.usual) };
  let last = best;
  for (let step = 0; step < MOST_STEPS; step++) {
    const ratio = last.stored.length / bytes;
    if (Math.abs(ratio - 1) <= TOLERANCE) break;
    // Bytes grow at most as the setting shrinks.
    const setting = last.setting * ratio;
    const next = { setting, stored: summary.encode(values, setting) };
    if (distance(next, bytes) < distance(best, bytes)) best = next;
    if (ratio < 1 && next.stored.length < last.stored.length * (1 + TOLERANCE)) break;
    last = next;
  }
  return best;
}

function distance({ stored }: Sized, bytes: number): number {
  return Math.abs(stored.length - bytes);
}
