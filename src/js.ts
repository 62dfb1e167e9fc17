// The recipe without WebAssembly, for strict content policies and runtimes that have none.
import { provideKernels } from "./kernel/choose.ts";
import { js } from "./kernel/js.ts";

provideKernels([js]);

export { OrielError, type OrielErrorCode } from "./errors.ts";
export { kernel } from "./kernel/api.ts";
export type { KernelName } from "./kernel/contract.ts";
export type { NanPolicy } from "./kernel/nan.ts";
export type { PercentileMethod } from "./kernel/percentile.ts";
export { type RollingOptions, type RollingPercentiles, rollingPercentile } from "./kernel/rolling.ts";
export type { DecidedBy, Decision, PolicyDecision } from "./limiter/decision.ts";
export { Limiter, type Wanted } from "./limiter/limiter.ts";
export type { AcquireOptions, LimiterOptions, TakeOptions } from "./limiter/options.ts";
export { concurrency, fixedWindow, funnel, gcra, type Policy, slidingWindow } from "./limiter/policies.ts";
export type { Reservation, ReserveOptions } from "./limiter/reservation.ts";
export type { HeldLock } from "./lock/held.ts";
export { Lock } from "./lock/lock.ts";
export type { LockOptions, TryLockOptions } from "./lock/lock-options.ts";
export type { BucketDetails } from "./metrics/bucket-details.ts";
export { LeapArray, type LeapArrayOptions } from "./metrics/leap-array.ts";
export type { LeapMode } from "./metrics/leap-mode.ts";
export { MetricBucket } from "./metrics/metric-bucket.ts";
export type { MetricView } from "./metrics/metric-view.ts";
export { MetricWindow, type MetricWindowOptions } from "./metrics/metric-window.ts";
export { OccupiableLeapArray } from "./metrics/occupiable-leap-array.ts";
export type { RtPercentileOptions } from "./metrics/rt-percentiles.ts";
export { StatisticNode, type StatisticNodeOptions } from "./metrics/statistic-node.ts";
export type { WindowWrap } from "./metrics/window-wrap.ts";
export type { Store } from "./store/contract.ts";
export { memoryStore } from "./store/memory.ts";
export type { Clock, Closed, Duration } from "./time.ts";
export { LocalSeries, type LocalSeriesOptions } from "./window/local-series.ts";
export { type RecordManyOptions, type RecordOptions, Series } from "./window/series.ts";
export type { SeriesOptions } from "./window/series-options.ts";
export type { SeriesStatsOptions } from "./window/server-query.ts";
export type { StatsOptions, WindowOptions } from "./window/window-query.ts";
export type { Degraded, WindowStats } from "./window/window-stats.ts";
