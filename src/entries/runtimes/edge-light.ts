// Entry `oriel` for Vercel's edge runtime, which has no TCP.

import { withKernels } from "../../engine/kernel/choose.ts";
import { withUpkeep } from "../../engine/series/session/given-upkeep.ts";
import { upkeep } from "../../engine/series/session/upkeep.ts";
import * as api from "../api.ts";
import { kernels } from "./kernels-edge-light.ts";

export { redisStore } from "../../store/redis/redis-edge.ts";
export * from "../api.ts";

// Only these exports compute. A bundle without them contains no kernels.
export const FleetMetrics = /* @__PURE__ */ withUpkeep(/* @__PURE__ */ withKernels(api.FleetMetrics, kernels), upkeep);
export const kernel = /* @__PURE__ */ withKernels(api.kernel, kernels);
export const rollingPercentile = /* @__PURE__ */ withKernels(api.rollingPercentile, kernels);
export const MetricWindow = /* @__PURE__ */ withKernels(api.MetricWindow, kernels);
export const recordHistory = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withKernels(api.recordHistory, kernels),
  upkeep,
);
export const StatisticNode = /* @__PURE__ */ withKernels(api.StatisticNode, kernels);
export const LocalSeries = /* @__PURE__ */ withKernels(api.LocalSeries, kernels);
export const LockedWindow = /* @__PURE__ */ withKernels(api.LockedWindow, kernels);
export const Series = /* @__PURE__ */ withUpkeep(/* @__PURE__ */ withKernels(api.Series, kernels), upkeep);
export const SeriesGroup = /* @__PURE__ */ withUpkeep(/* @__PURE__ */ withKernels(api.SeriesGroup, kernels), upkeep);
export const ShardedSeries = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withKernels(api.ShardedSeries, kernels),
  upkeep,
);
export const ShardedSeriesGroup = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withKernels(api.ShardedSeriesGroup, kernels),
  upkeep,
);
