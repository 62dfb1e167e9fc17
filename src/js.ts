// The recipe without WebAssembly, for strict content policies and runtimes that have none; built from runtimes/js.ts.
import { provideKernels } from "./kernel/choose.ts";
import { js } from "./kernel/js.ts";

provideKernels([js]);

export * from "./api.ts";
export { redisStore } from "./store/redis-edge.ts";
