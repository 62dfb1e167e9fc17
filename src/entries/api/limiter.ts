// Limiters and their policies.

export type { DecidedBy, Decision, PolicyDecision, PolicyKind } from "../../limiter/decision.ts";
export { Limiter, type TakeRequest, type TargetOptions } from "../../limiter/limiter.ts";
export { type LocalDecisions, type LocalDecisionsOptions, localDecisions } from "../../limiter/local-decisions.ts";
export type { AcquireOptions, LimiterOptions, OnStoreError, PoliciesOf, TakeOptions } from "../../limiter/options.ts";
export {
  type ConcurrencyPolicy,
  concurrency,
  fixedWindow,
  gcra,
  type LeakyBucketPolicy,
  leakyBucket,
  type Policy,
  type PolicyOptions,
  slidingWindow,
  type WindowPolicy,
} from "../../limiter/policies.ts";
export type { Reservation, ReserveOptions } from "../../limiter/reservation.ts";
export type { TakeRequestOf } from "../../limiter/take-all.ts";
export * from "./stores.ts";
