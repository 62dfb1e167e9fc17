// Entry `oriel/slim` for bundles: without the kernels' bytes. Only exports that have a series import its upkeep.
import * as api from "../entries/api.ts";
import { withUpkeep } from "../series/session/given-upkeep.ts";
import { upkeep } from "../series/session/upkeep.ts";

export * from "../entries/api.ts";
export { init, initSync } from "../kernel/init.ts";
export { redisStore } from "../store/redis/redis-edge.ts";

export const FleetMetrics = /* @__PURE__ */ withUpkeep(api.FleetMetrics, upkeep);
export const recordHistory = /* @__PURE__ */ withUpkeep(api.recordHistory, upkeep);
export const Series = /* @__PURE__ */ withUpkeep(api.Series, upkeep);
