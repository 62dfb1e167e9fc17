// Entry `oriel/series` with kernels. Only exports that compute import them.

import { withBlocks } from "../../engine/kernel/blocks/choose.ts";
import { blocks, kernels } from "../../engine/kernel/built-in.ts";
import { withKernels } from "../../engine/kernel/choose.ts";
import { withUpkeep } from "../../engine/series/session/given-upkeep.ts";
import { upkeep } from "../../engine/series/session/upkeep.ts";
import * as entry from "../structures/series.ts";

export * from "../structures/series.ts";

export const Series = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withBlocks(/* @__PURE__ */ withKernels(entry.Series, kernels), blocks),
  upkeep,
);
export const SeriesGroup = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withBlocks(/* @__PURE__ */ withKernels(entry.SeriesGroup, kernels), blocks),
  upkeep,
);
export const ShardedSeries = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withBlocks(/* @__PURE__ */ withKernels(entry.ShardedSeries, kernels), blocks),
  upkeep,
);
export const ShardedSeriesGroup = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withBlocks(/* @__PURE__ */ withKernels(entry.ShardedSeriesGroup, kernels), blocks),
  upkeep,
);
export const LocalSeries = /* @__PURE__ */ withKernels(entry.LocalSeries, kernels);
export const LockedWindow = /* @__PURE__ */ withKernels(entry.LockedWindow, kernels);
