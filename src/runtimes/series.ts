// The recipe of `oriel/series`: its entry, and the kernels with what computes.
import * as entry from "../entries/structures/series.ts";
import { builtIn } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/provided.ts";

export * from "../entries/structures/series.ts";

export const Series = /* @__PURE__ */ withKernels(entry.Series, builtIn);
export const LocalSeries = /* @__PURE__ */ withKernels(entry.LocalSeries, builtIn);
export const LockedWindow = /* @__PURE__ */ withKernels(entry.LockedWindow, builtIn);
