// Circuit breakers.

export { Breaker, type BreakerRunOptions } from "../../breaker/breaker.ts";
export type { BreakerState } from "../../breaker/circuit.ts";
export type { BreakerEvents, BreakerStats } from "../../breaker/gate.ts";
export type { BreakerOptions, BreakerRules } from "../../breaker/options.ts";
export type { BreakerTask } from "../../breaker/task.ts";
export * from "./stores.ts";
