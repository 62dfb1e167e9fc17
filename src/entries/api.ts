// What every recipe of `oriel` exports, whatever the runtime.
export { Breaker, type BreakerRunOptions } from "../breaker/breaker.ts";
export type { BreakerState } from "../breaker/circuit.ts";
export type { BreakerEvents, BreakerStats } from "../breaker/gate.ts";
export type { BreakerOptions, BreakerRules } from "../breaker/options.ts";
export type { BreakerTask } from "../breaker/task.ts";
export type { AddOptions, CountedEvent } from "../counter/add-options.ts";
export type { BucketName } from "../counter/buckets.ts";
export type { CounterValues } from "../counter/cells/cells.ts";
export { Counters } from "../counter/counters.ts";
export type { CounterMirror, CountersOptions } from "../counter/options.ts";
export type { CountersQuery } from "../counter/read.ts";
export type { CounterRow } from "../counter/row.ts";
export type { CounterShape, CountRow, CountTable, LedgerRow, RowsQuery } from "../counter/table.ts";
export type { ShardDiagnosis, ShardVerdict } from "../drain/diagnosis.ts";
export { CountersDoctor, type RepairOptions, type ShardRepair } from "../drain/doctor.ts";
export { DrainService } from "../drain/drain-service.ts";
export type { CycleReport, DivergedShards, DrainEvents, DrainFailure } from "../drain/events.ts";
export type { DrainOptions } from "../drain/options.ts";
export type { LayoutDiagnosis } from "../drain/shape-key.ts";
export type { DivergedState } from "../drain/shard-drain.ts";
export type { ApplyResult, DrainBatch, DrainRow, Sink, SinkCallOptions } from "../drain/sql/sink.ts";
export { type ErrorPlace, OrielError, type OrielErrorCode, type OrielErrorOptions } from "../errors.ts";
export { type BreakerLike, breakerSource } from "../exporters/breaker-source.ts";
export type { MetricsSources } from "../exporters/collect.ts";
export { type DrainLike, type DrainSourceEvents, drainSource } from "../exporters/drain-source.ts";
export { type FleetLike, type FleetSourceOptions, fleetSource } from "../exporters/fleet-source.ts";
export { type DecisionLike, type LimiterLike, limiterSource } from "../exporters/limiter-source.ts";
export type { MetricInfo, MetricsSource, Sample } from "../exporters/metric.ts";
export type { ExporterOptions } from "../exporters/options.ts";
export { type OtelMeter, observeOtel } from "../exporters/otel.ts";
export { type PrometheusRegistry, prometheusText, registerPrometheus } from "../exporters/prometheus.ts";
export { type QueueLike, queueSource, type WorkerLike, type WorkerSourceEvents } from "../exporters/queue-source.ts";
export { type SeriesLike, type SeriesSourceOptions, type StatsLike, seriesSource } from "../exporters/series-source.ts";
export { type NamedWindows, type WindowSourceOptions, windowSource } from "../exporters/window-source.ts";
export type { FleetMetric } from "../fleet/fleet-metric.ts";
export { type FleetEvents, FleetMetrics } from "../fleet/fleet-metrics.ts";
export type { FleetMetricsOptions } from "../fleet/options.ts";
export type { ProcessTotals } from "../fleet/totals.ts";
export { ClusterMetric, type ClusterMetricOptions } from "../flow/cluster-metric.ts";
export { ClusterParamMetric, type ClusterParamMetricOptions } from "../flow/cluster-param-metric.ts";
export type { FlowDecision, FlowNode, TrafficShapingController, TryPassOptions } from "../flow/controller.ts";
export { RejectController, type RejectOptions } from "../flow/reject-controller.ts";
export { ThrottlingController, type ThrottlingOptions } from "../flow/throttling-controller.ts";
export type { WarmUpOptions } from "../flow/warm-up.ts";
export { WarmUpController } from "../flow/warm-up-controller.ts";
export { WarmUpThrottlingController, type WarmUpThrottlingOptions } from "../flow/warm-up-throttling-controller.ts";
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
export type { PercentileLaw, PercentileMethod } from "../kernel/percentile/percentile.ts";
export { type RollingOptions, type RollingPercentiles, rollingPercentile } from "../kernel/rolling/rolling.ts";
export type { ColumnStats } from "../kernel/stats.ts";
export type { DecidedBy, Decision, PolicyDecision, PolicyKind } from "../limiter/decision.ts";
export { Limiter, type TakeRequest, type TargetOptions } from "../limiter/limiter.ts";
export type { AcquireOptions, LimiterOptions, PoliciesOf, TakeOptions } from "../limiter/options.ts";
export {
  type ConcurrencyPolicy,
  concurrency,
  fixedWindow,
  gcra,
  type LeakyBucketPolicy,
  leakyBucket,
  type Policy,
  type PolicyOptions,
  slidingWindow,
  type WindowPolicy,
} from "../limiter/policies.ts";
export type { Reservation, ReserveOptions } from "../limiter/reservation.ts";
export type { TakeRequestOf } from "../limiter/take-all.ts";
export type { HeldLock } from "../lock/held.ts";
export { Lock } from "../lock/lock.ts";
export type { LockOptions, TryLockOptions } from "../lock/lock-options.ts";
export type { LockedWindowOptions, Statistics } from "../locked-window/locked-options.ts";
export type { LockedStats } from "../locked-window/locked-step.ts";
export { type LockedAnswer, LockedWindow } from "../locked-window/locked-window.ts";
export type { BucketDetails } from "../metrics/bucket-details.ts";
export type { LatencyPercentileOptions, LatencySeriesOptions } from "../metrics/latency-percentiles.ts";
export { LeapArray, type LeapArrayOptions } from "../metrics/leap-array.ts";
export type { LeapMode } from "../metrics/leap-mode.ts";
export { MetricBucket } from "../metrics/metric-bucket.ts";
export type { MetricView } from "../metrics/metric-view.ts";
export { MetricWindow, type MetricWindowOptions } from "../metrics/metric-window.ts";
export { OccupiableLeapArray } from "../metrics/occupiable-leap-array.ts";
export { StatisticNode, type StatisticNodeOptions } from "../metrics/statistic-node.ts";
export type { WindowWrap } from "../metrics/window-wrap.ts";
export type { Backoff, BackoffOptions } from "../queue/backoff.ts";
export type { DeadLetters } from "../queue/dead-letters.ts";
export { type AddResult, DelayQueue } from "../queue/delay-queue.ts";
export { type InboxInsert, type InboxOptions, type InboxTransaction, inboxTable } from "../queue/inbox.ts";
export type { Job } from "../queue/job.ts";
export type { QueuedMessage } from "../queue/message.ts";
export type { AddMessageOptions, ClaimOptions, DelayQueueOptions, NackOptions } from "../queue/options.ts";
export type { QueueCounts } from "../queue/steps/counts.ts";
export type { ClaimedMessage } from "../queue/worker/claimed.ts";
export type { QueueWorker } from "../queue/worker/worker.ts";
export type { WorkerEvents } from "../queue/worker/worker-events.ts";
export type { WorkerOptions } from "../queue/worker/worker-options.ts";
export type { SeriesStatsOptions, SummarizeOptions } from "../series/queries.ts";
export { Series } from "../series/series.ts";
export type { Recorded, RecordManyOptions, RecordOptions, SeriesOptions } from "../series/series-options.ts";
export type { LocalPercentileOptions } from "../stats/live/live-questions.ts";
export { LocalSeries, type LocalSeriesOptions } from "../stats/local-series.ts";
export type { DefaultPercentiles, StatsOptions, WindowOptions } from "../stats/window-query.ts";
export type { ApproximateOptions, Approximation, Degraded, WindowStats } from "../stats/window-stats.ts";
export type {
  Argument,
  Keyspace,
  Operation,
  PackedStep,
  Packing,
  RunOptions,
  Script,
  Step,
  StepOfArguments,
  Store,
  StoreEvents,
  StoreHealth,
  WatchedStore,
} from "../store/contract.ts";
export type { ScriptStoreOptions } from "../store/delivery/script-store.ts";
export type { StoreFailure } from "../store/health/failures.ts";
export { type HttpStoreOptions, httpStore } from "../store/http/http.ts";
export type { Fetch } from "../store/http/http-request.ts";
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from "../store/memory/memory.ts";
export type { RedisClient, RedisStoreOptions } from "../store/redis/client-store.ts";
export type { IoredisClient } from "../store/redis/ioredis-client.ts";
export type { NodeRedisClient, NodeRedisCluster, SendOptions } from "../store/redis/node-redis-client.ts";
export { type Clock, type Closed, type Duration, parseDuration } from "../time.ts";
