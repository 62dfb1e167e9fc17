// Entry `oriel/slim`: without the kernels' bytes. The caller passes their location to `init`. Bundles use runtimes/slim.ts.

import { withUpkeep } from "../engine/series/session/given-upkeep.ts";
import { upkeep } from "../engine/series/session/upkeep.ts";

withUpkeep(undefined, upkeep);

export { init, initSync, type KernelSource } from "../engine/kernel/init.ts";
export { redisStore } from "../store/redis/redis-edge.ts";
export * from "./api.ts";
