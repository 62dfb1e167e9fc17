// Entry `oriel/metrics` with kernels. Only exports that compute import them.
import * as entry from "../entries/structures/metrics.ts";
import { kernels } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/choose.ts";
import { withUpkeep } from "../series/session/given-upkeep.ts";
import { upkeep } from "../series/session/upkeep.ts";

export * from "../entries/structures/metrics.ts";

export const MetricWindow = /* @__PURE__ */ withKernels(entry.MetricWindow, kernels);
export const StatisticNode = /* @__PURE__ */ withKernels(entry.StatisticNode, kernels);
export const recordHistory = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withKernels(entry.recordHistory, kernels),
  upkeep,
);
