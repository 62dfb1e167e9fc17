// The exports, pinned with their arity by test/kernel/wasm.slow.test.ts. README.md draws the memory map.

export { mask32, mask64 } from "./mask";
export { heapBase, vectorBytes } from "./memory";
export { rollingSlide32, rollingSlide64 } from "./rolling/rolling";
export { rollingRank32, rollingRank64 } from "./rolling/rolling-rank";
export { startsF64, startsI64 } from "./rolling/rolling-starts";
export { census32, census64 } from "./selection/census";
export { collect32, collect64 } from "./selection/collect";
export { narrow32, narrow64 } from "./selection/narrow";
export { rank32, rank64 } from "./selection/rank";
export { sample32, sample64 } from "./selection/sample";
export { sort32, sort64 } from "./selection/sort";
export { trim32, trim64 } from "./selection/trim";
export { deviations32, deviations64 } from "./sums/deviations";
export { fold32, fold64 } from "./sums/fold";
export { pairwiseSum32, pairwiseSum64 } from "./sums/pairwise";
export { waveletKeys32, waveletLevel } from "./wavelet/wavelet-levels";
export { waveletSelect } from "./wavelet/wavelet-select";
