/**
 * Entry `oriel/http`: header fields, clients' addresses and middleware for limiters. Imports no framework and no
 * kernel.
 *
 * @module oriel/http
 */

export {
  type ErrorSite as ErrorPlace,
  OrielError,
  type OrielErrorCode,
  type OrielErrorOptions,
} from "../base/errors.ts";
export type { Clock, Duration } from "../base/time.ts";
export {
  type ElysiaRateLimitContext,
  type ElysiaRateLimitInit,
  elysiaRateLimitContext,
} from "../http/adapters/elysia-rate-limit.ts";
export {
  type ExpressLimiterOptions,
  type ExpressRequest,
  type ExpressResponse,
  expressLimiter,
} from "../http/adapters/express.ts";
export {
  type ClientHits,
  type ExpressRateLimitInit,
  type ExpressRateLimitStore,
  type ExpressRateLimitStoreOptions,
  expressRateLimitStore,
} from "../http/adapters/express-rate-limit.ts";
export {
  type FastifyLimiterOptions,
  type FastifyReply,
  type FastifyRequest,
  fastifyLimiter,
} from "../http/adapters/fastify.ts";
export {
  type FastifyCount,
  type FastifyCounted,
  type FastifyRateLimitStore,
  type FastifyRouteLimit,
  fastifyRateLimitStore,
} from "../http/adapters/fastify-rate-limit.ts";
export { type FetchLimiterOptions, fetchLimiter } from "../http/adapters/fetch.ts";
export { type HonoContext, type HonoLimiterOptions, type HonoStatus, honoLimiter } from "../http/adapters/hono.ts";
export {
  type NestModule,
  nestModule,
  nestThrottlerStorage,
  type ThrottlerRecord,
  type ThrottlerStorage,
} from "../http/adapters/nest.ts";
export type { NodeConnection, NodeResponse } from "../http/adapters/node-response.ts";
export { decisionOf, type HeaderValue, type LimiterOptions } from "../http/admission.ts";
export { type ClientKeyOptions, clientKey } from "../http/client-key.ts";
export { type QuotaUnit, type RateLimitHeaderOptions, rateLimitHeaders } from "../http/headers.ts";
export { type Problem, problemOf } from "../http/problem.ts";
export type { CountingTaker, LimiterFor, Taker } from "../http/taker.ts";
export type { Cost } from "../limits/limiter/cost.ts";
export type { DecidedBy, Decision, PolicyDecision, PolicyKind } from "../limits/limiter/decision.ts";
