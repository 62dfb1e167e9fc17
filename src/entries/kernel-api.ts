// The exports of `oriel/kernel` in every runtime: the kernels, no store.
export {
  type ErrorSite as ErrorPlace,
  OrielError,
  type OrielErrorCode,
  type OrielErrorOptions,
} from "../base/errors.ts";
export type { Closed, Duration } from "../base/time.ts";
export type {
  ColumnOptions,
  Instant,
  PercentileOptions,
  TrimOptions,
  WindowStatsOptions,
} from "../engine/kernel/api.ts";
export { kernel } from "../engine/kernel/api.ts";
export { forceKernel } from "../engine/kernel/choose.ts";
export type { Values, ValueType } from "../engine/kernel/column.ts";
export type { Column, KernelName } from "../engine/kernel/contract.ts";
export type { Moments } from "../engine/kernel/moments.ts";
export type { NanPolicy } from "../engine/kernel/nan.ts";
export type { PercentileCompat } from "../engine/kernel/percentile/numpy.ts";
export type { PercentileMethod } from "../engine/kernel/percentile/percentile.ts";
export { type RollingOptions, type RollingPercentiles, rollingPercentile } from "../engine/kernel/rolling/rolling.ts";
export type { ColumnStats } from "../engine/kernel/stats.ts";
