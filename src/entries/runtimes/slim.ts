// Entry `oriel/slim` for bundles: without the kernels' bytes. Only exports that have a series import its upkeep.

import { withUpkeep } from "../../engine/series/session/given-upkeep.ts";
import { upkeep } from "../../engine/series/session/upkeep.ts";
import * as api from "../api.ts";

export { init, initSync } from "../../engine/kernel/init.ts";
export { redisStore } from "../../store/redis/redis-edge.ts";
export * from "../api.ts";

export const FleetMetrics = /* @__PURE__ */ withUpkeep(api.FleetMetrics, upkeep);
export const recordHistory = /* @__PURE__ */ withUpkeep(api.recordHistory, upkeep);
export const Series = /* @__PURE__ */ withUpkeep(api.Series, upkeep);
export const SeriesGroup = /* @__PURE__ */ withUpkeep(api.SeriesGroup, upkeep);
export const ShardedSeries = /* @__PURE__ */ withUpkeep(api.ShardedSeries, upkeep);
export const ShardedSeriesGroup = /* @__PURE__ */ withUpkeep(api.ShardedSeriesGroup, upkeep);
