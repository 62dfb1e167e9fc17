import { OrielError } from "../errors.ts";
import { kernel } from "../kernel/api.ts";
import type { Closed } from "../time.ts";
import { fromBase64, isBase64 } from "./base64.ts";
import type { LockedState } from "./locked-read.ts";

/** The events inside a window, in the order recorded. */
export interface LockedContent {
  times: BigInt64Array;
  values: Float32Array;
}

/**
 * The numbers of document 1, as NumPy computes them over f32: pairwise sum and average in f32, and a linear p99.
 * All are 0 for an empty window.
 */
export interface LockedStats {
  count: number;
  sum: number;
  average: number;
  p99: number;
}

const NUMPY = { compat: "numpy", nan: "propagate" } as const;

/**
 * Returns the events of a stored window that are still inside at its `nowMs`, followed by the `added` values as events
 * of that instant. Events later than now stay and count, as in a program that only masks old events.
 * Throws CORRUPT if the stored columns are not a window.
 */
export function contentOf(state: LockedState, spanMs: number, closed: Closed, added: readonly number[]): LockedContent {
  const [times, values] = isBase64(state.times)
    ? [fromBase64("timestamps", state.times), fromBase64("values", state.values)]
    : [state.times, state.values];
  if (times.length % 8 !== 0 || times.length / 8 !== values.length / 4)
    throw new OrielError(
      "CORRUPT",
      `timestamps take ${times.length} bytes and values ${values.length}: not 8 and 4 an event`,
    );
  const inside = kernel.trim(times, values, state.nowMs - spanMs, { closed });
  const kept = inside.times.length;
  const content = { times: new BigInt64Array(kept + added.length), values: new Float32Array(kept + added.length) };
  content.times.set(inside.times);
  content.values.set(inside.values);
  content.times.fill(BigInt(state.nowMs), kept);
  content.values.set(added, kept);
  return content;
}

export function lockedStatsOf({ values }: LockedContent): LockedStats {
  const count = values.length;
  if (count === 0) return { count, sum: 0, average: 0, p99: 0 };
  return {
    count,
    sum: kernel.sum(values, NUMPY),
    average: kernel.moments(values, NUMPY).mean,
    p99: kernel.percentile(values, 99, NUMPY),
  };
}
