import type { CountingTaker } from "../taker.ts";
import { type ExpressRateLimitStoreOptions, expressRateLimitStore } from "./express-rate-limit.ts";

/** The options of elysia-rate-limit that its context receives. Both may be functions of the request. */
export interface ElysiaRateLimitInit {
  duration?: unknown;
  max?: unknown;
  countFailedRequest?: boolean;
}

/** The Context interface of elysia-rate-limit 4. */
export interface ElysiaRateLimitContext {
  init(options: ElysiaRateLimitInit): void;
  increment(key: string): Promise<{ count: number; nextReset: Date; start: number }>;
  decrement(key: string): Promise<void>;
  reset(key?: string): Promise<void>;
  kill(): void;
}

const DEFAULT_WINDOW_MS = 60_000;

/**
 * Returns a context for elysia-rate-limit that counts in a limiter with one policy. `limiter`, `options` and the rules are those of
 * `expressRateLimitStore`. A function of the window is called once, with the plugin's `duration`. If that is a function, pass a limiter.
 * `reset` without a key does nothing: the counts are those of all processes.
 */
export function elysiaRateLimitContext(
  limiter: CountingTaker | ((windowMs: number) => CountingTaker),
  options: ExpressRateLimitStoreOptions = {},
): ElysiaRateLimitContext {
  const store = expressRateLimitStore(limiter, options);
  return {
    init({ duration, max, countFailedRequest }) {
      const windowMs = typeof duration === "number" ? duration : DEFAULT_WINDOW_MS;
      store.init({ windowMs, limit: max, skipFailedRequests: countFailedRequest !== true });
    },
    async increment(key) {
      const { totalHits, resetTime } = await store.increment(key);
      return { count: totalHits, nextReset: resetTime, start: (options.clock ?? Date.now)() };
    },
    decrement: (key) => store.decrement(key),
    async reset(key) {
      if (key !== undefined) await store.resetKey(key);
    },
    kill() {},
  };
}
