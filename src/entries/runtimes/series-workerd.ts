// Entry `oriel/series` for Cloudflare Workers.

import { withKernels, withRunKernel } from "../../engine/kernel/choose.ts";
import * as entry from "../structures/series.ts";
import { kernels } from "./kernels-workerd.ts";
import { runs } from "./runs-workerd.ts";

export * from "../structures/series.ts";

export const Series = /* @__PURE__ */ withRunKernel(entry.Series, runs);
export const SeriesGroup = /* @__PURE__ */ withRunKernel(entry.SeriesGroup, runs);
export const ShardedSeries = /* @__PURE__ */ withRunKernel(entry.ShardedSeries, runs);
export const ShardedSeriesGroup = /* @__PURE__ */ withRunKernel(entry.ShardedSeriesGroup, runs);
export const LocalSeries = /* @__PURE__ */ withKernels(entry.LocalSeries, kernels);
export const LockedWindow = /* @__PURE__ */ withKernels(entry.LockedWindow, kernels);
