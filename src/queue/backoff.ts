import { numberFrom, settingsOf } from "../base/options.ts";
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

const BACKOFF = {
  first: [durationMs, null, 0, YEAR_MS],
  factor: [numberFrom, 2, 1, 1000],
  longest: [durationMs, null, 1000, YEAR_MS],
} as const;

/** Throws ARGUMENT. */
export function backoffOf(argument: string, options: BackoffOptions, absent: Backoff): Backoff {
  if (typeof options !== "object") {
    const firstMs = durationMs(argument, options, 0, YEAR_MS);
    return { firstMs, factor: 1, longestMs: Math.max(1000, firstMs) };
  }
  const given = settingsOf(BACKOFF, options, argument);
  const firstMs = given.firstMs ?? absent.firstMs;
  return { firstMs, factor: given.factor, longestMs: Math.max(firstMs, given.longestMs ?? absent.longestMs) };
}

/** The pause after this number of failed deliveries. */
export function pauseMs({ firstMs, factor, longestMs }: Backoff, deliveries: number): number {
  return Math.floor(Math.min(longestMs, firstMs * factor ** (deliveries - 1)));
}
