// The exports of `oriel` in every runtime.
export {
  type ColumnOptions,
  type Instant,
  kernel,
  type PercentileOptions,
  type TrimOptions,
  type WindowStatsOptions,
} from "../engine/kernel/api.ts";
export type { Values, ValueType } from "../engine/kernel/column.ts";
export type { Column, KernelName } from "../engine/kernel/contract.ts";
export type { Moments } from "../engine/kernel/moments.ts";
export type { NanPolicy } from "../engine/kernel/nan.ts";
export type { PercentileCompat } from "../engine/kernel/percentile/numpy.ts";
export type { PercentileMethod } from "../engine/kernel/percentile/percentile.ts";
export { type RollingOptions, type RollingPercentiles, rollingPercentile } from "../engine/kernel/rolling/rolling.ts";
export type { ColumnStats } from "../engine/kernel/stats.ts";
export * from "./api/breaker.ts";
export * from "./api/counters.ts";
export * from "./api/fleet.ts";
export * from "./api/limiter.ts";
export * from "./api/lock.ts";
export * from "./api/metrics.ts";
export * from "./api/queue.ts";
export * from "./api/series.ts";
