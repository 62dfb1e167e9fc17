/**
 * Entry `oriel/metrics`.
 *
 * @module oriel/metrics
 */

export * from "../api/metrics.ts";
