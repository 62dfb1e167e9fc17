import { argumentError, byteBound, checkKnown } from "../../base/errors.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import { type NanPolicy, policyOf } from "../kernel/nan.ts";

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

export function localSeriesSettings(options: LocalSeriesOptions) {
  checkKnown(options, ["retention", "values", "nan", "maxBytes", "compact", "clock"]);
  const { values = "float32", nan = "reject", clock = Date.now } = options;
  if (values !== "float32" && values !== "float64") throw argumentError("values", values, '"float32" or "float64"');
  policyOf(nan);
  const { compact = false } = options;
  if (typeof compact !== "boolean") throw argumentError("compact", compact, "true or false");
  if (typeof clock !== "function") throw argumentError("clock", clock, "a function that returns ms since 1970");
  const retentionMs = durationMs("retention", options.retention ?? "1h");
  return { values, nan, clock, compact, retentionMs, maxBytes: byteBound("maxBytes", options.maxBytes ?? 512 << 20) };
}
