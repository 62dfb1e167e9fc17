// The recipe for Node: SIMD, else scalar WebAssembly, else JavaScript; Redis through ioredis.
import { provideKernels } from "./kernel/choose.ts";
import { js } from "./kernel/js.ts";
import { wasmScalar } from "./kernel/wasm-scalar.ts";
import { wasmSimd } from "./kernel/wasm-simd.ts";

provideKernels([wasmSimd, wasmScalar, js]);

export { type AddOptions, type CountedEvent, Counters } from "./counter/counters.ts";
export type { CountersOptions } from "./counter/options.ts";
export type { CountersQuery } from "./counter/read.ts";
export type { CountRow, CountTable } from "./counter/table.ts";
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
export type { Store } from "./store/contract.ts";
export { memoryStore } from "./store/memory.ts";
export { redisStore } from "./store/redis.ts";
export type { Clock, Closed, Duration } from "./time.ts";
export { LocalSeries, type LocalSeriesOptions } from "./window/local-series.ts";
export type { LockedWindowOptions, Statistics } from "./window/locked-options.ts";
export type { LockedStats } from "./window/locked-step.ts";
export { type LockedAnswer, LockedWindow } from "./window/locked-window.ts";
export { type RecordManyOptions, type RecordOptions, Series } from "./window/series.ts";
export type { SeriesOptions } from "./window/series-options.ts";
export type { SeriesStatsOptions } from "./window/server-query.ts";
export type { StatsOptions, WindowOptions } from "./window/window-query.ts";
export type { Degraded, WindowStats } from "./window/window-stats.ts";
