// Circuit breakers.

export { Breaker, type BreakerRunOptions } from "../../limits/breaker/breaker.ts";
export type { BreakerState } from "../../limits/breaker/circuit.ts";
export type { BreakerEvents, BreakerStats } from "../../limits/breaker/gate.ts";
export type {
  BreakerCooldown,
  BreakerOptions,
  BreakerOrderOptions,
  BreakerRules,
} from "../../limits/breaker/options.ts";
export type { BreakerTask } from "../../limits/breaker/task.ts";
export * from "./stores.ts";
