// Entry `oriel` for Cloudflare Workers. It opens no TCP connection itself.

import { withKernels, withRunKernel } from "../../engine/kernel/choose.ts";
import * as api from "../api.ts";
import { kernels } from "./kernels-workerd.ts";
import { runs } from "./runs-workerd.ts";

export { redisStore } from "../../store/redis/redis-edge.ts";
export * from "../api.ts";

// Only these exports compute. A bundle without them contains no kernels.
export const FleetMetrics = /* @__PURE__ */ withKernels(api.FleetMetrics, kernels);
export const kernel = /* @__PURE__ */ withKernels(api.kernel, kernels);
export const rollingPercentile = /* @__PURE__ */ withKernels(api.rollingPercentile, kernels);
export const MetricWindow = /* @__PURE__ */ withKernels(api.MetricWindow, kernels);
export const recordHistory = /* @__PURE__ */ withKernels(api.recordHistory, kernels);
export const StatisticNode = /* @__PURE__ */ withKernels(api.StatisticNode, kernels);
export const LocalSeries = /* @__PURE__ */ withKernels(api.LocalSeries, kernels);
export const LockedWindow = /* @__PURE__ */ withKernels(api.LockedWindow, kernels);
export const Series = /* @__PURE__ */ withRunKernel(api.Series, runs);
export const SeriesGroup = /* @__PURE__ */ withRunKernel(api.SeriesGroup, runs);
export const ShardedSeries = /* @__PURE__ */ withRunKernel(api.ShardedSeries, runs);
export const ShardedSeriesGroup = /* @__PURE__ */ withRunKernel(api.ShardedSeriesGroup, runs);
