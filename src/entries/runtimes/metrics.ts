// Entry `oriel/metrics` with kernels. Only exports that compute import them.

import { kernels } from "../../engine/kernel/built-in.ts";
import { withKernels } from "../../engine/kernel/choose.ts";
import { withUpkeep } from "../../engine/series/session/given-upkeep.ts";
import { upkeep } from "../../engine/series/session/upkeep.ts";
import * as entry from "../structures/metrics.ts";

export * from "../structures/metrics.ts";

export const MetricWindow = /* @__PURE__ */ withKernels(entry.MetricWindow, kernels);
export const StatisticNode = /* @__PURE__ */ withKernels(entry.StatisticNode, kernels);
export const recordHistory = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withKernels(entry.recordHistory, kernels),
  upkeep,
);
