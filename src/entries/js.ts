// Entry `oriel/js`: no WebAssembly, for strict content policies and runtimes without it. Bundles use runtimes/js.ts.
import { provideKernels } from "../engine/kernel/choose.ts";
import { js } from "../engine/kernel/js/js.ts";
import { withUpkeep } from "../engine/series/session/given-upkeep.ts";
import { upkeep } from "../engine/series/session/upkeep.ts";

provideKernels([js]);
withUpkeep(undefined, upkeep);

export { redisStore } from "../store/redis/redis-edge.ts";
export * from "./api.ts";
