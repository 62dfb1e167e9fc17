// Entry `oriel/dashboard` with kernels. Only exports that compute import them.
import * as entry from "../entries/structures/dashboard.ts";
import { kernels } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/choose.ts";
import { withUpkeep } from "../series/session/given-upkeep.ts";
import { upkeep } from "../series/session/upkeep.ts";

export * from "../entries/structures/dashboard.ts";

export const dashboard = /* @__PURE__ */ withUpkeep(/* @__PURE__ */ withKernels(entry.dashboard, kernels), upkeep);
