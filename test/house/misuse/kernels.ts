import * as kernelEntry from "../../../src/entries/kernel.ts";
import * as slim from "../../../src/entries/slim.ts";
import type { Subject } from "./walk.ts";

const { kernel } = kernelEntry;
const times = () => BigInt64Array.of(1n, 2n, 3n);
const values = () => Float64Array.of(1, 2, 3);
const within = () => ({ closed: "right", sorted: true, until: 3 });
const column = () => ({ type: "f64", nan: "reject", compat: "strict" });

/** Entry `oriel/kernel`, whose functions entry `oriel` has too. */
export const KERNELS: Record<string, Subject> = {
  kernel: {
    object: () => kernel,
    methods: {
      percentile: () => [values(), 50, { ...column(), method: "linear" }],
      sum: () => [values(), column()],
      moments: () => [values(), { ...column(), ddof: 0 }],
      trim: () => [times(), values(), 1, { type: "f64", ...within() }],
      stats: () => [times(), values(), 1, { ...column(), ...within(), percentiles: [50], method: "linear", ddof: 0 }],
      rollingPercentile: () => [
        times(),
        values(),
        { span: 2, percentiles: [50], method: "linear", type: "f64", closed: "right", nan: "reject" },
      ],
    },
  },
  rollingPercentile: {
    called: kernelEntry.rollingPercentile,
    right: () => [times(), values(), { span: 2, percentiles: [50] }],
  },
  init: { called: slim.init, right: () => [new Uint8Array(8)] },
  initSync: { called: slim.initSync, right: () => [new Uint8Array(8)] },
  forceKernel: { called: kernelEntry.forceKernel, right: () => [null] },
};
