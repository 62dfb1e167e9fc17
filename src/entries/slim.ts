// Entry `oriel/slim`: without the kernels' bytes. The caller passes their location to `init`.

import { withUpkeep } from "../series/session/given-upkeep.ts";
import { upkeep } from "../series/session/upkeep.ts";
import * as api from "./api.ts";

export { init, initSync, type KernelSource } from "../kernel/init.ts";
export { redisStore } from "../store/redis/redis-edge.ts";
export * from "./api.ts";

/** As in `oriel`. */
export const FleetMetrics = /* @__PURE__ */ withUpkeep(api.FleetMetrics, upkeep);
/** An instance of the class. */
export type FleetMetrics = api.FleetMetrics;
/** As in `oriel`. */
export const recordHistory = /* @__PURE__ */ withUpkeep(api.recordHistory, upkeep);
/** As in `oriel`. */
export const Series = /* @__PURE__ */ withUpkeep(api.Series, upkeep);
/** An instance of the class. */
export type Series = api.Series;
