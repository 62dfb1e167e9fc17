// The loops that sorted runs need, a module of its own: `Series` in a Worker has no other. Its exports are those of the kernels.

export { heapBase } from "../memory";
export { sort32, sort64 } from "../selection/sort";
export { fold32, fold64 } from "../sums/fold";
