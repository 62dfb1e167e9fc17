import { byteBound } from "../../base/errors.ts";
import { CLOCK, flag, oneOf, type Schema } from "../../base/options.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import type { NanPolicy } from "../kernel/nan.ts";

/** Options of `LocalSeries`. */
export interface LocalSeriesOptions {
  /** Longest span of any query; default "1h". */
  retention?: Duration | undefined;
  values?: "float32" | "float64" | undefined;
  nan?: NanPolicy | undefined;
  /**
   * Memory bound for events, default 512 MiB: 14 bytes for each (float64 22), or what packed events take. Above it `record`
   * throws OVERLOADED.
   */
  maxBytes?: number | undefined;
  /**
   * True: each event takes about 5 bytes in memory rather than 12 (float64: 11 rather than 20). Recording takes about 0.05 us longer,
   * and a window that differs from query to query up to twice as long. Default false.
   */
  compact?: boolean | undefined;
  /** Ms since 1970; default `Date.now`. */
  clock?: Clock | undefined;
}

export const VALUES = [oneOf, "float32", "float32", "float64"] as const;
export const NAN = [oneOf, "reject", "reject", "ignore", "propagate"] as const;

export const LOCAL_SERIES = {
  retention: [durationMs, 3_600_000],
  values: VALUES,
  nan: NAN,
  maxBytes: [byteBound, 512 << 20],
  compact: [flag, false],
  clock: CLOCK,
} as const satisfies Schema<LocalSeriesOptions>;
