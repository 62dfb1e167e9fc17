import { argumentError, checkKnown, wholeNumber } from "../errors.ts";
import { type Duration, durationMs } from "../time.ts";
import type { RingShape } from "./ring.ts";

export interface FleetMetricsOptions {
  /** Buckets, 1 to 600, and how long all of them are; default 60 over "1m". The same for all who share the name. */
  sampleCount?: number;
  interval?: Duration;
  /** Names that have numbers of their own, 1 to 1000, default 100; all others have theirs together, under "". The same for all. */
  maxNames?: number;
  /** How long what is counted waits to be sent with what comes meanwhile, default "1s". */
  flush?: Duration;
  /** "exact" (default): the last sampleCount buckets; "sentinel": one more, while it is no older than the interval. */
  mode?: "exact" | "sentinel";
  /** Keeps every response time in a shared series too, for `rtPercentiles`: some 20 bytes each; default false. */
  percentiles?: boolean;
}

export interface FleetSettings {
  shape: RingShape;
  intervalMs: number;
  flushMs: number;
  mode: "exact" | "sentinel";
  hasPercentiles: boolean;
}

const KNOWN = ["sampleCount", "interval", "maxNames", "flush", "mode", "percentiles"];
const MOST_SAMPLES = 600;
const MOST_NAMES = 1000;
const MOST_INTERVAL_MS = 7 * 86_400_000;
const MOST_FLUSH_MS = 3_600_000;

/** Throws ARGUMENT. */
export function fleetSettings(options: FleetMetricsOptions): FleetSettings {
  checkKnown(options, KNOWN);
  const { sampleCount = 60, interval = "1m", maxNames = 100, flush = "1s", mode = "exact" } = options;
  const { percentiles = false } = options;
  wholeNumber("sampleCount", sampleCount, 1, MOST_SAMPLES);
  wholeNumber("maxNames", maxNames, 1, MOST_NAMES);
  const intervalMs = durationMs("interval", interval, 1, MOST_INTERVAL_MS);
  if (intervalMs % sampleCount !== 0)
    throw argumentError("interval", interval, `a multiple of its ${sampleCount} buckets, in whole ms`);
  if (mode !== "exact" && mode !== "sentinel") throw argumentError("mode", mode, '"exact" or "sentinel"');
  if (typeof percentiles !== "boolean") throw argumentError("percentiles", percentiles, "true or false");
  return {
    shape: { sampleCount, bucketMs: intervalMs / sampleCount, mostNames: maxNames },
    intervalMs,
    flushMs: durationMs("flush", flush, 1, MOST_FLUSH_MS),
    mode,
    hasPercentiles: percentiles,
  };
}
