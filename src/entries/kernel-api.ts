// The exports of `oriel/kernel` in every runtime: the kernels, no store.
export { type ErrorPlace, OrielError, type OrielErrorCode, type OrielErrorOptions } from "../errors.ts";
export type { ColumnOptions, Instant, PercentileOptions, TrimOptions, WindowStatsOptions } from "../kernel/api.ts";
export { kernel } from "../kernel/api.ts";
export { forceKernel } from "../kernel/choose.ts";
export type { Values, ValueType } from "../kernel/column.ts";
export type { Column, KernelName } from "../kernel/contract.ts";
export type { Moments } from "../kernel/moments.ts";
export type { NanPolicy } from "../kernel/nan.ts";
export type { PercentileCompat, PercentileMethod } from "../kernel/percentile/percentile.ts";
export { type RollingOptions, type RollingPercentiles, rollingPercentile } from "../kernel/rolling/rolling.ts";
export type { ColumnStats } from "../kernel/stats.ts";
export type { Closed, Duration } from "../time.ts";
