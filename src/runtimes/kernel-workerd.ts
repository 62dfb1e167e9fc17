// Entry `oriel/kernel` for Cloudflare Workers.
import { provideKernels } from "../kernel/choose.ts";
import { js } from "../kernel/js/js.ts";
import { kernels } from "./kernels-workerd.ts";

provideKernels([...kernels, js]);

export * from "../entries/kernel-api.ts";
