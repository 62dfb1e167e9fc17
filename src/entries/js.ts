// The recipe without WebAssembly, for strict content policies and runtimes that have none; built from runtimes/js.ts.
import { provideKernels } from "../kernel/choose.ts";
import { js } from "../kernel/js/js.ts";

provideKernels([js]);

export { redisStore } from "../store/redis/redis-edge.ts";
export * from "./api.ts";
