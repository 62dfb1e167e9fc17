import { argumentError, checkKnown } from "../../errors.ts";
import type { Decision } from "../../limiter/decision.ts";
import { argumentErrorOf, placed } from "../../place.ts";
import type { Clock } from "../../time.ts";
import { clientId } from "../client-id.ts";
import type { CountingTaker } from "../taker.ts";
import { Tally } from "./tally.ts";

export interface ExpressRateLimitStoreOptions {
  /** Put before each key; give one per store where several limit the same request. Default "". */
  prefix?: string | undefined;
  /** Default Date.now. */
  clock?: Clock | undefined;
}

/** What express-rate-limit is told of a client. */
export interface ClientHits {
  totalHits: number;
  resetTime: Date;
}

/** What express-rate-limit tells its store of its options. */
export interface ExpressRateLimitInit {
  windowMs: number;
  limit?: unknown;
  skipFailedRequests?: boolean;
  skipSuccessfulRequests?: boolean;
}

/** express-rate-limit's Store, as of its version 8. */
export interface ExpressRateLimitStore {
  readonly localKeys: false;
  readonly prefix: string;
  init(options: ExpressRateLimitInit): void;
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
 * With `skipFailedRequests` or `skipSuccessfulRequests`, a hit is taken back where this process took a permit for it that
 * the limiter still counts; a denied request took none, so that taking it back gives nothing. Where more than 50 000 keys
 * are open at a time, hits of those that were quiet for longest stay. Keys are taken as the middleware takes them
 * (`LimiterOptions.key`).
 *
 * `resetTime` is when all hits are forgotten; of a denied request, when it would pass. Errors of the limiter reach
 * express-rate-limit (`passOnStoreError`). Throws ARGUMENT for what is no limiter.
 */
export function expressRateLimitStore(
  limiter: CountingTaker | ((windowMs: number) => CountingTaker),
  options: ExpressRateLimitStoreOptions = {},
): ExpressRateLimitStore {
  return placed("expressRateLimitStore", () => {
    checkKnown(options, ["prefix", "clock"]);
    const { prefix = "", clock = Date.now } = options;
    if (typeof prefix !== "string") throw argumentError("prefix", prefix, "a string");
    if (typeof clock !== "function") throw argumentError("clock", clock, "a function that gives ms since 1970");
    let taker = typeof limiter === "function" ? undefined : checked(limiter);
    let mostHits = 0;
    /** Only where hits are taken back; express-rate-limit says so in its first call. */
    let tally: Tally | undefined = new Tally();
    let takesBack = false;
    let spanMs = 0;
    const ready = () => checked(taker);
    const idOf = (key: string) => {
      if (typeof key !== "string")
        throw argumentErrorOf("expressRateLimitStore", "key", key, "a string: what keyGenerator gives");
      return clientId(prefix + key);
    };
    const until = (ms: number) => new Date(clock() + (Number.isFinite(ms) ? ms : 0));
    return {
      localKeys: false,
      prefix,
      init({ windowMs, limit, skipFailedRequests, skipSuccessfulRequests }) {
        if (typeof limiter === "function") taker = checked(limiter(windowMs));
        if (typeof limit === "number") mostHits = limit;
        spanMs = windowMs;
        takesBack ||= Boolean(skipFailedRequests || skipSuccessfulRequests);
        tally = takesBack ? (tally ?? new Tally()) : undefined;
      },
      async get(key) {
        const decision = await ready().peek(await idOf(key));
        const totalHits = hitsOf(decision);
        return totalHits === 0 ? undefined : { totalHits, resetTime: until(decision.resetAfterMs) };
      },
      async increment(key) {
        const id = await idOf(key);
        const decision = await ready().take(id);
        const { allowed, degraded, resetAfterMs, retryAfterMs } = decision;
        // What passed without the limiter's store took nothing there, and no decision says until when that matters.
        if (allowed && !degraded) tally?.took(id, clock(), resetAfterMs);
        else tally?.tookNothing(id, clock(), degraded ? spanMs : resetAfterMs);
        if (allowed) return { totalHits: Math.max(hitsOf(decision), 1), resetTime: until(resetAfterMs) };
        // What the limiter denies, express-rate-limit must deny, whichever of the two limits is the larger.
        const limit = Math.max(mostHits, Number.isFinite(decision.limit) ? decision.limit : 0);
        return { totalHits: limit + 1, resetTime: until(retryAfterMs) };
      },
      async decrement(key) {
        const id = await idOf(key);
        if (tally === undefined || tally.isTaken(id, clock())) await ready().reward(id, 1);
      },
      async resetKey(key) {
        const id = await idOf(key);
        tally?.forget(id);
        await ready().reset(id);
      },
    };
  });
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
