// Series, series of one process, and locked windows.

export type { GroupCalls } from "../../engine/groups/group-calls.ts";
export type { SeriesGroupOptions } from "../../engine/groups/group-options.ts";
export type { Labels } from "../../engine/groups/labels.ts";
export type {
  GroupRow,
  GroupRows,
  GroupStatsOptions,
  Match,
  PercentileOf,
  RowMeasure,
  TopOptions,
} from "../../engine/groups/rows.ts";
export { SeriesGroup } from "../../engine/groups/series-group.ts";
export type { Column } from "../../engine/kernel/contract.ts";
export type { NanPolicy } from "../../engine/kernel/nan.ts";
export type { PercentileMethod } from "../../engine/kernel/percentile/percentile.ts";
export type { LockedStats } from "../../engine/locked-window/content.ts";
export { type LockedAnswer, LockedWindow } from "../../engine/locked-window/locked-window.ts";
export type { LockedWindowOptions, Statistics } from "../../engine/locked-window/options.ts";
export { Series } from "../../engine/series/series.ts";
export type { Recorded, RecordManyOptions, RecordOptions, SeriesOptions } from "../../engine/series/series-options.ts";
export type { QueryPlanReport } from "../../engine/series/session/query-plan.ts";
export type { ShardedSeriesGroupOptions, ShardedSeriesOptions } from "../../engine/shards/shard-options.ts";
export { ShardedSeries } from "../../engine/shards/sharded-series.ts";
export { ShardedSeriesGroup } from "../../engine/shards/sharded-series-group.ts";
export type { CompareOptions, Comparison } from "../../engine/stats/comparison.ts";
export type { Histogram, HistogramOptions, Ranks } from "../../engine/stats/distribution.ts";
export type { LocalPercentileOptions } from "../../engine/stats/live/percentile-queries.ts";
export { LocalSeries } from "../../engine/stats/local-series.ts";
export type { LocalSeriesOptions } from "../../engine/stats/local-series-options.ts";
export type { Timeline, TimelineOptions } from "../../engine/stats/timeline.ts";
export type { DefaultPercentiles, StatsOptions, WindowOptions } from "../../engine/stats/window-query.ts";
export type { Degraded, WindowStats } from "../../engine/stats/window-stats.ts";
export type { AnyHeldLock, AnyLock, LibraryMutex } from "../../holds/lock/any-lock.ts";
export type { TryLockOptions } from "../../holds/lock-options.ts";
export * from "./stores.ts";
