// The exports of `oriel` in every runtime.
export {
  type ColumnOptions,
  type Instant,
  kernel,
  type PercentileOptions,
  type TrimOptions,
  type WindowStatsOptions,
} from "../kernel/api.ts";
export type { Values, ValueType } from "../kernel/column.ts";
export type { Column, KernelName } from "../kernel/contract.ts";
export type { Moments } from "../kernel/moments.ts";
export type { NanPolicy } from "../kernel/nan.ts";
export type { PercentileCompat, PercentileMethod } from "../kernel/percentile/percentile.ts";
export { type RollingOptions, type RollingPercentiles, rollingPercentile } from "../kernel/rolling/rolling.ts";
export type { ColumnStats } from "../kernel/stats.ts";
export * from "./api/breaker.ts";
export * from "./api/counters.ts";
export * from "./api/fleet.ts";
export * from "./api/limiter.ts";
export * from "./api/lock.ts";
export * from "./api/metrics.ts";
export * from "./api/queue.ts";
export * from "./api/series.ts";
