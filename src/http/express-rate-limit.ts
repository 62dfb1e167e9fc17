import { argumentError } from "../errors.ts";
import type { Decision } from "../limiter/decision.ts";
import type { Clock } from "../time.ts";
import type { CountingTaker } from "./taker.ts";

export interface ExpressRateLimitStoreOptions {
  /** Put before each key; give one per store where several limit the same request. Default "". */
  prefix?: string;
  /** Default Date.now. */
  clock?: Clock;
}

/** What express-rate-limit is told of a client. */
export interface ClientHits {
  totalHits: number;
  resetTime: Date;
}

/** express-rate-limit's Store, as of its version 8. */
export interface ExpressRateLimitStore {
  readonly localKeys: false;
  readonly prefix: string;
  init(options: { windowMs: number; limit?: unknown }): void;
  get(key: string): Promise<ClientHits | undefined>;
  increment(key: string): Promise<ClientHits>;
  decrement(key: string): Promise<void>;
  resetKey(key: string): Promise<void>;
}

/**
 * A store for express-rate-limit that counts in a limiter of one policy: hits are what is taken of its limit.
 *
 * Give a limiter whose limit is express-rate-limit's: then the limiter decides, a denied request takes nothing and
 * counts as one more than the limit. Or give a function that makes one of the window's length with a limit that is never
 * reached, `(windowMs) => new Limiter(store, [fixedWindow({ limit: 1e9, span: windowMs })])`: then express-rate-limit
 * decides, by a limit that may differ per request, and denied requests count, as in its other stores.
 *
 * `resetTime` is when all hits are forgotten; of a denied request, when it would pass. Errors of the limiter reach
 * express-rate-limit (`passOnStoreError`). Throws ARGUMENT for what is no limiter.
 */
export function expressRateLimitStore(
  limiter: CountingTaker | ((windowMs: number) => CountingTaker),
  options: ExpressRateLimitStoreOptions = {},
): ExpressRateLimitStore {
  const { prefix = "", clock = Date.now } = options;
  let taker = typeof limiter === "function" ? undefined : checked(limiter);
  let mostHits = 0;
  const ready = () => checked(taker);
  const until = (ms: number) => new Date(clock() + (Number.isFinite(ms) ? ms : 0));
  return {
    localKeys: false,
    prefix,
    init({ windowMs, limit }) {
      if (typeof limiter === "function") taker = checked(limiter(windowMs));
      if (typeof limit === "number") mostHits = limit;
    },
    async get(key) {
      const decision = await ready().peek(prefix + key);
      const totalHits = hitsOf(decision);
      return totalHits === 0 ? undefined : { totalHits, resetTime: until(decision.resetAfterMs) };
    },
    async increment(key) {
      const decision = await ready().take(prefix + key);
      if (decision.allowed)
        return { totalHits: Math.max(hitsOf(decision), 1), resetTime: until(decision.resetAfterMs) };
      // What the limiter denies, express-rate-limit must deny, whichever of the two limits is the larger.
      const limit = Math.max(mostHits, Number.isFinite(decision.limit) ? decision.limit : 0);
      return { totalHits: limit + 1, resetTime: until(decision.retryAfterMs) };
    },
    async decrement(key) {
      await ready().reward(prefix + key, 1);
    },
    async resetKey(key) {
      await ready().reset(prefix + key);
    },
  };
}

/** Permits taken; 0 where the decision knows no policy (the store could not be asked). */
function hitsOf({ limit, remaining }: Decision): number {
  const hits = limit - remaining;
  return Number.isFinite(hits) ? Math.max(hits, 0) : 0;
}

function checked(taker: CountingTaker | undefined): CountingTaker {
  if (typeof taker?.take !== "function" || typeof taker.peek !== "function")
    throw argumentError("limiter", taker, "a Limiter, or a function that makes one of the window's ms");
  return taker;
}
