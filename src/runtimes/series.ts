// Entry `oriel/series` with kernels. Only exports that compute import them.
import * as entry from "../entries/structures/series.ts";
import { withBlocks } from "../kernel/blocks/choose.ts";
import { blocks, kernels } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/choose.ts";
import { withUpkeep } from "../series/session/given-upkeep.ts";
import { upkeep } from "../series/session/upkeep.ts";

export * from "../entries/structures/series.ts";

export const Series = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withBlocks(/* @__PURE__ */ withKernels(entry.Series, kernels), blocks),
  upkeep,
);
export const LocalSeries = /* @__PURE__ */ withKernels(entry.LocalSeries, kernels);
export const LockedWindow = /* @__PURE__ */ withKernels(entry.LockedWindow, kernels);
