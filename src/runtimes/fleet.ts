// Entry `oriel/fleet` with kernels. Only exports that compute import them.
import * as entry from "../entries/structures/fleet.ts";
import { kernels } from "../kernel/built-in.ts";
import { withKernels } from "../kernel/choose.ts";
import { withUpkeep } from "../series/session/given-upkeep.ts";
import { upkeep } from "../series/session/upkeep.ts";

export * from "../entries/structures/fleet.ts";

export const FleetMetrics = /* @__PURE__ */ withUpkeep(
  /* @__PURE__ */ withKernels(entry.FleetMetrics, kernels),
  upkeep,
);
