import { atSite } from "../../base/site.ts";
import { clientId } from "../client-id.ts";
import { countedOf, hitsOf, type LimiterFor, limitersOf } from "../taker.ts";

/** The count of a client, as @fastify/rate-limit reads it. */
export interface FastifyCount {
  current: number;
  /** Ms. */
  ttl: number;
}

/** Receives the count, or the error of the limiter. */
export type FastifyCounted = (error: Error | null, count?: FastifyCount) => void;

/** The options of a route that its store receives. */
export interface FastifyRouteLimit {
  routeInfo?: { method?: string | readonly string[]; url?: string } | undefined;
}

/** The store of @fastify/rate-limit 11, for all routes or for one. */
export interface FastifyRateLimitStore {
  incr(key: string, callback: FastifyCounted, timeWindow: number, max: number): void;
  read(key: string, callback: FastifyCounted, timeWindow: number, max: number): void;
  child(route: FastifyRouteLimit): FastifyRateLimitStore;
}

/**
 * Returns the class of a store for @fastify/rate-limit. Pass a limiter, or a function that makes one for the `timeWindow` and `max`
 * of a route: `(spanMs, limit) => new Limiter(store, [slidingWindow({ limit, span: spanMs })], { name: "api" })`.
 *
 * The limiter decides. A request that it denies takes nothing, and counts as one more than `max`. So `ban` never bans, and
 * `continueExceeding` and `exponentialBackoff` have no effect: use `limiter.block`. A route with a limit of its own counts apart. `ttl`
 * is the time until all permits are free, or until a denied request would pass. Errors of the limiter reach the plugin (`skipOnError`).
 * Throws ARGUMENT if `limiterFor` is not a limiter.
 */
export function fastifyRateLimitStore(limiterFor: LimiterFor): new (options?: object) => FastifyRateLimitStore {
  const limiterOf = atSite("fastifyRateLimitStore", () => limitersOf(limiterFor));
  return class Store implements FastifyRateLimitStore {
    /** Of the route: "GET /orders ". */
    #prefix = "";

    incr(key: string, callback: FastifyCounted, timeWindow: number, max: number): void {
      this.#count("take", key, timeWindow, max).then((count) => callback(null, count), callback);
    }

    read(key: string, callback: FastifyCounted, timeWindow: number, max: number): void {
      this.#count("peek", key, timeWindow, max).then((count) => callback(null, count), callback);
    }

    child({ routeInfo }: FastifyRouteLimit): Store {
      const child = new Store();
      if (routeInfo?.url !== undefined) child.#prefix = `${routeInfo.method} ${routeInfo.url} `;
      return child;
    }

    async #count(call: "take" | "peek", key: string, spanMs: number, limit: number): Promise<FastifyCount> {
      const decision = await limiterOf(spanMs, limit)[call](await clientId(this.#prefix + key));
      const ttl = decision.allowed ? decision.resetAfterMs : decision.retryAfterMs;
      const isRead = call === "peek" && decision.allowed;
      return {
        current: isRead ? Math.min(hitsOf(decision), limit) : countedOf(decision, limit),
        ttl: Number.isFinite(ttl) ? ttl : spanMs,
      };
    }
  };
}
