// Limiters and their policies.

export { type CalendarWindowPolicy, calendarWindow } from "../../limits/limiter/calendar-window.ts";
export type { Cost } from "../../limits/limiter/cost.ts";
export type { DecidedBy, Decision, PolicyDecision, PolicyKind } from "../../limits/limiter/decision.ts";
export { Limiter, type TakeRequest, type TargetOptions } from "../../limits/limiter/limiter.ts";
export {
  type LocalDecisions,
  type LocalDecisionsOptions,
  localDecisions,
} from "../../limits/limiter/local-decisions.ts";
export type {
  AcquireOptions,
  LimiterOptions,
  OnStoreError,
  TakeOptions,
} from "../../limits/limiter/options.ts";
export {
  type ConcurrencyPolicy,
  concurrency,
  fixedWindow,
  gcra,
  type LeakyBucketPolicy,
  leakyBucket,
  type Policy,
  type PolicyCalendar,
  type PolicyOptions,
  slidingWindow,
  type WindowPolicy,
} from "../../limits/limiter/policies.ts";
export type { PoliciesCall, PoliciesOf } from "../../limits/limiter/policies-by-id.ts";
export type {
  Charge,
  PolicyCharge,
  Reservation,
  ReservationEnd,
  ReserveAllOptions,
  ReserveOptions,
} from "../../limits/limiter/reservation.ts";
export type { TakeRequestOf } from "../../limits/limiter/take-all.ts";
export * from "./stores.ts";
