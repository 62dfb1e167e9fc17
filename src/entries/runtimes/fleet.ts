// Entry `oriel/fleet` with kernels. Only exports that compute import them.

import { kernels } from "../../engine/kernel/built-in.ts";
import { withKernels } from "../../engine/kernel/choose.ts";
import { withUpkeep } from "../../engine/series/session/given-upkeep.ts";
import { upkeep } from "../../engine/series/session/upkeep.ts";
import * as entry from "../structures/fleet.ts";

export * from "../structures/fleet.ts";

export const FleetMetrics = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withKernels(entry.FleetMetrics, kernels),
  upkeep,
);
