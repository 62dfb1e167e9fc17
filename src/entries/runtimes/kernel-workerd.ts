// Entry `oriel/kernel` for Cloudflare Workers.
import { provideKernels } from "../../engine/kernel/choose.ts";
import { js } from "../../engine/kernel/js/js.ts";
import { kernels } from "./kernels-workerd.ts";

provideKernels([...kernels, js]);

export * from "../kernel-api.ts";
