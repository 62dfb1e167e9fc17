// Entry `oriel/series` for Cloudflare Workers.
import * as entry from "../entries/structures/series.ts";
import { withKernels, withRunKernel } from "../kernel/choose.ts";
import { kernels } from "./kernels-workerd.ts";
import { runs } from "./runs-workerd.ts";

export * from "../entries/structures/series.ts";

export const Series = /* @__PURE__ */ withRunKernel(entry.Series, runs);
export const LocalSeries = /* @__PURE__ */ withKernels(entry.LocalSeries, kernels);
export const LockedWindow = /* @__PURE__ */ withKernels(entry.LockedWindow, kernels);
