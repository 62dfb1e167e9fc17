import { bytesOfBase64 } from "../../base/base64.ts";
import { OrielError } from "../../base/errors.ts";
import type { Closed } from "../../base/time.ts";
import { kernel } from "../kernel/api.ts";
import type { StoredWindow } from "./steps.ts";

/** The events inside a window, in the order recorded. */
export interface WindowContent {
  times: BigInt64Array;
  values: Float32Array;
}

/**
 * The statistics of the published design, as NumPy computes them over f32: pairwise sum and average in f32, and a linear p99.
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
export function contentOf(
  state: StoredWindow,
  spanMs: number,
  closed: Closed,
  added: readonly number[],
): WindowContent {
  const [times, values] = isBase64(state.times)
    ? [fromBase64("timestamps", state.times), fromBase64("values", state.values)]
    : [state.times, state.values];
  if (times.length % 8 !== 0 || times.length / 8 !== values.length / 4)
    throw new OrielError(
      "CORRUPT",
      `timestamps has ${times.length} bytes and values ${values.length}; events take 8 and 4`,
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

export function lockedStatsOf({ values }: WindowContent): LockedStats {
  const count = values.length;
  if (count === 0) return { count, sum: 0, average: 0, p99: 0 };
  return {
    count,
    sum: kernel.sum(values, NUMPY),
    average: kernel.moments(values, NUMPY).mean,
    p99: kernel.percentile(values, 99, NUMPY),
  };
}

const TEXT = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Whether a column of times is base64 text instead of i64 bytes. The two cannot be confused: text has no zero byte, but
 * the first i64 time has one, for all ms from 1970 to the year 8 919 000.
 */
function isBase64(times: Uint8Array): boolean {
  return times.length > 0 && !times.subarray(0, 8).includes(0);
}

/** Decodes base64 text. Throws CORRUPT if the text is not base64. */
function fromBase64(field: string, text: Uint8Array): Uint8Array {
  const ascii = new TextDecoder("latin1").decode(text);
  if (ascii.length % 4 !== 0 || !TEXT.test(ascii))
    throw new OrielError("CORRUPT", `the field ${field} is neither numbers as bytes nor their base64 text`);
  return bytesOfBase64(ascii);
}
