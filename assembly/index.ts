// The exports, pinned with their arity by test/kernel/exports.test.ts. README.md draws the memory map.

export { census32, census64 } from "./census";
export { collect32, collect64 } from "./collect";
export { deviations32, deviations64 } from "./deviations";
export { lanes32, lanes64 } from "./lanes";
export { heapBase } from "./memory";
export { narrow32, narrow64 } from "./narrow";
export { pairwiseSum32, pairwiseSum64 } from "./pairwise";
export { rank32, rank64 } from "./rank";
export { sort32, sort64 } from "./sort";
export { squares32, squares64 } from "./squares";
export { trim32, trim64 } from "./trim";
