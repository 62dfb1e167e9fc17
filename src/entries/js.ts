// Entry `oriel/js`: no WebAssembly, for strict content policies and runtimes without it. Bundles use runtimes/js.ts.
import { provideKernels } from "../kernel/choose.ts";
import { js } from "../kernel/js/js.ts";
import { withUpkeep } from "../series/session/given-upkeep.ts";
import { upkeep } from "../series/session/upkeep.ts";

provideKernels([js]);
withUpkeep(undefined, upkeep);

export { redisStore } from "../store/redis/redis-edge.ts";
export * from "./api.ts";
