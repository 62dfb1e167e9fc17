import { argumentError } from "../../base/errors.ts";
import { atSite } from "../../base/site.ts";
import { clientId } from "../client-id.ts";
import { countedOf, type LimiterFor, limitersOf } from "../taker.ts";

/** The count of a client, as @nestjs/throttler reads it. Times are whole seconds. */
export interface ThrottlerRecord {
  totalHits: number;
  timeToExpire: number;
  isBlocked: boolean;
  timeToBlockExpire: number;
}

/** The ThrottlerStorage interface of @nestjs/throttler 6. */
export interface ThrottlerStorage {
  increment(
    key: string,
    ttlMs: number,
    limit: number,
    blockDurationMs: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord>;
}

/**
 * Returns a storage for @nestjs/throttler. Pass a limiter, or a function that makes one for the `ttl` and `limit` of a throttler:
 * `(spanMs, limit) => new Limiter(store, [slidingWindow({ limit, span: spanMs })], { name: "nest" })`.
 *
 * The limiter decides. A request that it denies takes nothing. With a `blockDuration` other than `ttl`, the first denied request blocks
 * its client for that time. Each throttler counts apart, by its name. Errors of the limiter reach Nest, which answers 500.
 * Throws ARGUMENT if `limiterFor` is not a limiter.
 */
export function nestThrottlerStorage(limiterFor: LimiterFor): ThrottlerStorage {
  const limiterOf = atSite("nestThrottlerStorage", () => limitersOf(limiterFor));
  return {
    async increment(key, ttlMs, limit, blockDurationMs, throttlerName) {
      const id = await clientId(`${throttlerName} ${key}`);
      const limiter = limiterOf(ttlMs, limit);
      const decision = await limiter.take(id);
      const { allowed, degraded, policy, resetAfterMs } = decision;
      let { retryAfterMs } = decision;
      // Without the store nobody can be blocked, and the denial is the answer.
      if (!allowed && !degraded && policy !== "block" && blockDurationMs !== ttlMs && limiter.block) {
        await limiter.block(id, blockDurationMs);
        retryAfterMs = blockDurationMs;
      }
      const seconds = (ms: number) => Math.ceil((Number.isFinite(ms) ? ms : ttlMs) / 1000);
      return {
        totalHits: countedOf(decision, limit),
        timeToExpire: seconds(allowed ? resetAfterMs : retryAfterMs),
        isBlocked: !allowed,
        timeToBlockExpire: allowed ? 0 : seconds(retryAfterMs),
      };
    },
  };
}

/** A module of Nest, as `imports` takes it. */
export interface NestModule {
  module: new () => object;
  global: true;
  providers: { provide: string; useValue: unknown }[];
  exports: string[];
}

/**
 * Returns a global module for NestJS with a store and structures: `imports: [nestModule(store, { latency, limiter })]`. Each is
 * injected by its name: `@Inject("latency") latency: Series`. The name of the store is `"ORIEL_STORE"`. When the application shuts
 * down (`app.enableShutdownHooks()`), after the last request, structures with a `close` are closed, then the store, also if one of them
 * fails. Nest then gets that error. Throws ARGUMENT if `store` is not a store.
 */
export function nestModule(
  store: { close(): Promise<void> },
  structures: Readonly<Record<string, object>> = {},
): NestModule {
  atSite("nestModule", () => {
    if (typeof store?.close !== "function") throw argumentError("store", store, "a store, such as redisStore(url)");
    if (typeof structures !== "object" || structures === null || Array.isArray(structures))
      throw argumentError("structures", structures, "an object of structures, by the names that providers inject");
  });
  const closing = async () => {
    const closable = Object.values(structures) as { close?: () => unknown }[];
    const closed = await Promise.allSettled(closable.map(async (each) => each.close?.()));
    await store.close();
    for (const one of closed) if (one.status === "rejected") throw one.reason;
  };
  class OrielModule {
    onApplicationShutdown(): Promise<void> {
      return closing();
    }
  }
  const values: Record<string, unknown> = { ...structures, ORIEL_STORE: store };
  return {
    module: OrielModule,
    global: true,
    providers: Object.entries(values).map(([provide, useValue]) => ({ provide, useValue })),
    exports: Object.keys(values),
  };
}
