// Entry `oriel/fleet` with kernels. Only exports that compute import them.
import * as entry from "../entries/structures/fleet.ts";
import { kernels } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/choose.ts";

export * from "../entries/structures/fleet.ts";

export const FleetMetrics = /* @__PURE__ */ withKernels(entry.FleetMetrics, kernels);
