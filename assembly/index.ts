// The exports, pinned with their arity by test/kernel/wasm.test.ts. README.md draws the memory map.

export { census32, census64 } from "./census";
export { collect32, collect64 } from "./collect";
export { deviations32, deviations64 } from "./deviations";
export { fold32, fold64 } from "./fold";
export { mask32, mask64 } from "./mask";
export { heapBase, vectorBytes } from "./memory";
export { narrow32, narrow64 } from "./narrow";
export { pairwiseSum32, pairwiseSum64 } from "./pairwise";
export { rank32, rank64 } from "./rank";
export { rollingSlide32, rollingSlide64 } from "./rolling";
export { rollingRank32, rollingRank64 } from "./rolling-rank";
export { startsF64, startsI64 } from "./rolling-starts";
export { sample32, sample64 } from "./sample";
export { sort32, sort64 } from "./sort";
export { trim32, trim64 } from "./trim";
