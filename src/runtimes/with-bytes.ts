// What recipes with the kernels' bytes inside export, besides a store.
import * as api from "../entries/api.ts";
import { builtIn } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/provided.ts";

export * from "../entries/api.ts";

// These compute, and bring the kernels with them; whatever else a bundle has of api.ts brings none.
export const FleetMetrics = /* @__PURE__ */ withKernels(api.FleetMetrics, builtIn);
export const kernel = /* @__PURE__ */ withKernels(api.kernel, builtIn);
export const rollingPercentile = /* @__PURE__ */ withKernels(api.rollingPercentile, builtIn);
export const MetricWindow = /* @__PURE__ */ withKernels(api.MetricWindow, builtIn);
export const StatisticNode = /* @__PURE__ */ withKernels(api.StatisticNode, builtIn);
export const LocalSeries = /* @__PURE__ */ withKernels(api.LocalSeries, builtIn);
export const LockedWindow = /* @__PURE__ */ withKernels(api.LockedWindow, builtIn);
export const Series = /* @__PURE__ */ withKernels(api.Series, builtIn);
