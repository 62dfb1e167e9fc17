import { argumentError, wholeNumber } from "../../base/errors.ts";
import { type Announced, flag, oneOf, type Schema, settingsOf } from "../../base/options.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import type { RingShape } from "./ring.ts";

/** Options of `FleetMetrics`. Interval and buckets must be the same in all processes. */
export interface FleetMetricsOptions {
  /** Total length of all buckets, 1 ms to 7 days. Default "1m". The same for all processes that share the name. */
  interval?: Duration | undefined;
  /**
   * Number of buckets, 1 to 600; must divide the interval into whole ms. Default: the largest such number up to 60. The
   * same for all processes.
   */
  sampleCount?: number | undefined;
  /**
   * Maximum names with numbers of their own, 1 to 1000. Default 100. All other names share "". The same for all
   * processes.
   */
  maxNames?: number | undefined;
  /** How long counts are collected before they are sent. Default "1s". */
  flush?: Duration | undefined;
  /**
   * "exact" (default): the last `sampleCount` buckets. "sentinel": one more bucket, while it is no older than the
   * interval.
   */
  mode?: "exact" | "sentinel" | undefined;
  /**
   * Also keeps every response time in a shared series, for `latencyPercentilesMs`. About 20 bytes each. Default false.
   */
  percentiles?: boolean | undefined;
}

const DEFAULT_SAMPLES = 60;
const MAX_SAMPLES = 600;
const MAX_NAMES = 1000;
const MAX_INTERVAL_MS = 7 * 86_400_000;
const MAX_FLUSH_MS = 3_600_000;
const MAX_NAME_BYTES = 512;
const LONE_SURROGATE = /\p{Surrogate}/u;

export const FLEET = {
  sampleCount: [wholeNumber, null, 1, MAX_SAMPLES],
  interval: [durationMs, 60_000, 1, MAX_INTERVAL_MS],
  maxNames: [wholeNumber, 100, 1, MAX_NAMES],
  flush: [durationMs, 1000, 1, MAX_FLUSH_MS],
  mode: [oneOf, "exact", "exact", "sentinel"],
  percentiles: [flag, false],
} as const satisfies Schema<FleetMetricsOptions>;
/** Beside its shape, which all processes must share. */
export type AnnouncedFleet = Announced<typeof FLEET, "sampleCount" | "interval" | "maxNames" | "flush" | "mode">;

export type FleetSettings = ReturnType<typeof fleetSettings>;

/** Throws ARGUMENT. */
export function fleetSettings(options: FleetMetricsOptions) {
  const settings = settingsOf(FLEET, options);
  const { intervalMs, maxNames } = settings;
  const sampleCount = settings.sampleCount ?? divisorUpTo(DEFAULT_SAMPLES, intervalMs);
  if (intervalMs % sampleCount !== 0) {
    const fits = divisorUpTo(sampleCount, intervalMs);
    throw argumentError(
      "sampleCount",
      sampleCount,
      `a number that divides the interval of ${intervalMs} ms, e.g. ${fits}`,
    );
  }
  const shape: RingShape = { sampleCount, bucketMs: intervalMs / sampleCount, maxNames };
  return { ...settings, shape };
}

function divisorUpTo(most: number, whole: number): number {
  let divisor = Math.min(most, whole);
  while (whole % divisor !== 0) divisor--;
  return divisor;
}

/** Throws ARGUMENT for a name that cannot be stored. */
export function checkMetricName(name: unknown): asserts name is string {
  if (typeof name !== "string" || name.length === 0 || name.length > MAX_NAME_BYTES || LONE_SURROGATE.test(name))
    throw argumentError("name", name, `a string of 1 to ${MAX_NAME_BYTES} characters, without lone surrogates`);
}
