// The recipe for Vercel's edge runtime; no TCP of its own.
import * as api from "../entries/api.ts";
import { withKernels } from "../kernel/provided.ts";
import { kernels } from "./kernels-edge-light.ts";

export * from "../entries/api.ts";
export { redisStore } from "../store/redis/redis-edge.ts";

// These compute, and bring the kernels with them; whatever else a bundle has of api.ts brings none.
export const FleetMetrics = /* @__PURE__ */ withKernels(api.FleetMetrics, kernels);
export const kernel = /* @__PURE__ */ withKernels(api.kernel, kernels);
export const rollingPercentile = /* @__PURE__ */ withKernels(api.rollingPercentile, kernels);
export const MetricWindow = /* @__PURE__ */ withKernels(api.MetricWindow, kernels);
export const StatisticNode = /* @__PURE__ */ withKernels(api.StatisticNode, kernels);
export const LocalSeries = /* @__PURE__ */ withKernels(api.LocalSeries, kernels);
export const LockedWindow = /* @__PURE__ */ withKernels(api.LockedWindow, kernels);
export const Series = /* @__PURE__ */ withKernels(api.Series, kernels);
