import type { WindowStats } from "../../../engine/stats/window-stats.ts";
import type { WindowNumbers } from "../protocol.ts";

/** A number that JSON can hold; null for NaN and infinities. */
export function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** Events per second; null for a window without a length. */
export function rateOf(count: number, spanMs: number): number | null {
  return finite((count * 1000) / spanMs);
}

export function windowNumbers(stats: WindowStats<50 | 90 | 99>, below: number | undefined): WindowNumbers {
  const { from, to, count, mean, std, min, max, percentiles, degradedBy = null } = stats;
  return {
    fromMs: from,
    toMs: to,
    count,
    rate: rateOf(count, to - from),
    mean: finite(mean),
    std: finite(std),
    min: finite(min),
    max: finite(max),
    p50: finite(percentiles[50]),
    p90: finite(percentiles[90]),
    p99: finite(percentiles[99]),
    below: finite(below),
    degradedBy,
  };
}
