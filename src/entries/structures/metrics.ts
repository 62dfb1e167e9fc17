// Entry `oriel/metrics`.
export * from "../api/metrics.ts";
