// Limiters over HTTP: header fields, clients' addresses, middleware. It names no framework and needs no kernel.
export { OrielError, type OrielErrorCode } from "../errors.ts";
export {
  type ExpressLimiterOptions,
  type ExpressRequest,
  type ExpressResponse,
  expressLimiter,
} from "../http/adapters/express.ts";
export {
  type ClientHits,
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
export { type FetchLimiterOptions, fetchLimiter } from "../http/adapters/fetch.ts";
export { type HonoContext, type HonoLimiterOptions, honoLimiter } from "../http/adapters/hono.ts";
export { decisionOf, type LimiterOptions } from "../http/admission.ts";
export { type ClientKeyOptions, clientKey } from "../http/client-key.ts";
export { type QuotaUnit, type RateLimitHeaderOptions, rateLimitHeaders } from "../http/headers.ts";
export { type Problem, problemOf } from "../http/problem.ts";
export type { CountingTaker, Taker } from "../http/taker.ts";
export type { Decision, PolicyDecision } from "../limiter/decision.ts";
