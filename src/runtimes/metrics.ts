// The recipe of `oriel/metrics`: its entry, and the kernels with what computes.
import * as entry from "../entries/structures/metrics.ts";
import { kernels } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/provided.ts";

export * from "../entries/structures/metrics.ts";

export const MetricWindow = /* @__PURE__ */ withKernels(entry.MetricWindow, kernels);
export const StatisticNode = /* @__PURE__ */ withKernels(entry.StatisticNode, kernels);
