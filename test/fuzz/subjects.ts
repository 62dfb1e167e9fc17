import { breaker, fleet, leasingLimiter, limiter } from "./limit-subjects.ts";
import { lock, readWriteLock, semaphore } from "./lock-subjects.ts";
import type { Subject } from "./subject.ts";
import {
  eventSeries,
  lockedWindow,
  sealedSeries,
  series,
  seriesGroup,
  shardedSeries,
  shardedSeriesGroup,
} from "./window-subjects.ts";
import { counters, lists, queue } from "./work-subjects.ts";

/** Every structure that keeps something in a store. */
export const SUBJECTS: readonly Subject[] = [
  series,
  eventSeries,
  sealedSeries,
  seriesGroup,
  shardedSeries,
  shardedSeriesGroup,
  lockedWindow,
  limiter,
  leasingLimiter,
  lock,
  readWriteLock,
  semaphore,
  breaker,
  fleet,
  counters,
  queue,
  lists,
];
/** Exported classes that keep nothing in a store. Those for several servers run redis-semaphore's steps over clients. */
export const WITHOUT_KEYS = [
  "DoNotRetryError",
  "OrielError",
  ...["QuorumLock", "QuorumSemaphore"],
  ...["LeapArray", "MetricBucket", "MetricWindow", "OccupiableLeapArray", "StatisticNode", "LocalSeries"],
  ...["ClusterMetric", "ClusterParamMetric"],
  ...["RejectController", "ThrottlingController", "WarmUpController", "WarmUpThrottlingController"],
];
