// Series, series of one process, and locked windows.

export type { TryLockOptions } from "../../hold/lock-options.ts";
export type { Column } from "../../kernel/contract.ts";
export type { NanPolicy } from "../../kernel/nan.ts";
export type { PercentileMethod } from "../../kernel/percentile/percentile.ts";
export type { AnyHeldLock, AnyLock, LibraryMutex } from "../../lock/any-lock.ts";
export type { LockedStats } from "../../locked-window/content.ts";
export { type LockedAnswer, LockedWindow } from "../../locked-window/locked-window.ts";
export type { LockedWindowOptions, Statistics } from "../../locked-window/options.ts";
export { Series } from "../../series/series.ts";
export type { Recorded, RecordManyOptions, RecordOptions, SeriesOptions } from "../../series/series-options.ts";
export type { QueryPlanReport } from "../../series/session/query-plan.ts";
export type { LocalPercentileOptions } from "../../stats/live/percentile-queries.ts";
export { LocalSeries } from "../../stats/local-series.ts";
export type { LocalSeriesOptions } from "../../stats/local-series-options.ts";
export type { DefaultPercentiles, StatsOptions, WindowOptions } from "../../stats/window-query.ts";
export type { Degraded, WindowStats } from "../../stats/window-stats.ts";
export * from "./stores.ts";
