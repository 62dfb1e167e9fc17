// The recipe of `oriel/fleet`: its entry, and the kernels with what computes.
import * as entry from "../entries/structures/fleet.ts";
import { kernels } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/provided.ts";

export * from "../entries/structures/fleet.ts";

export const FleetMetrics = /* @__PURE__ */ withKernels(entry.FleetMetrics, kernels);
