import { argumentError, checkKnown } from "../base/errors.ts";
import { type Duration, durationMs } from "../base/time.ts";

const YEAR_MS = 31_536_000_000;

/**
 * How long a message waits after a failed delivery. A single duration is a constant pause. Otherwise the pause starts
 * at `first` and is multiplied by `factor` (default 2) after each failure, up to `longest`.
 */
export type BackoffOptions =
  | Duration
  | { first?: Duration | undefined; factor?: number | undefined; longest?: Duration | undefined };

/** A backoff with its defaults. */
export interface Backoff {
  firstMs: number;
  factor: number;
  longestMs: number;
}

export const DEFAULT_BACKOFF: Backoff = { firstMs: 1000, factor: 2, longestMs: 3_600_000 };

/** Throws ARGUMENT. */
export function backoffOf(options: BackoffOptions | undefined, absent: Backoff): Backoff {
  if (options === undefined) return absent;
  if (typeof options !== "object") {
    const firstMs = durationMs("backoff", options, 0, YEAR_MS);
    return { firstMs, factor: 1, longestMs: Math.max(1000, firstMs) };
  }
  checkKnown(options, ["first", "factor", "longest"], "backoff");
  const { first = absent.firstMs, factor = 2, longest = absent.longestMs } = options;
  if (typeof factor !== "number" || !(factor >= 1 && factor <= 1000))
    throw argumentError("backoff.factor", factor, "a number from 1 to 1000");
  const firstMs = durationMs("backoff.first", first, 0, YEAR_MS);
  return { firstMs, factor, longestMs: Math.max(firstMs, durationMs("backoff.longest", longest, 1000, YEAR_MS)) };
}

/** The pause after this number of failed deliveries. */
export function pauseMs({ firstMs, factor, longestMs }: Backoff, deliveries: number): number {
  return Math.floor(Math.min(longestMs, firstMs * factor ** (deliveries - 1)));
}
