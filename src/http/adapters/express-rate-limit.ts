import { CLOCK, type Schema, settingsOf, text } from "../../base/options.ts";
import { argumentErrorOf, atSite } from "../../base/site.ts";
import type { Clock } from "../../base/time.ts";
import { clientId, NO_ADDRESS, warnOnce } from "../client-id.ts";
import { type CountingTaker, checkedTaker, hitsOf } from "../taker.ts";
import { Tally } from "./tally.ts";

/** Options of `expressRateLimitStore`. */
export interface ExpressRateLimitStoreOptions {
  /** Prefix of each key. Use different ones if several stores limit the same request. Default "". */
  prefix?: string | undefined;
  /** Ms since 1970. Default Date.now. */
  clock?: Clock | undefined;
}

const EXPRESS_STORE = { prefix: [text, ""], clock: CLOCK } as const satisfies Schema<ExpressRateLimitStoreOptions>;

/** The hits of a client, as express-rate-limit reads them. */
export interface ClientHits {
  totalHits: number;
  resetTime: Date;
}

/** The options of express-rate-limit that its store receives. */
export interface ExpressRateLimitInit {
  windowMs: number;
  limit?: unknown;
  skipFailedRequests?: boolean;
  skipSuccessfulRequests?: boolean;
}

/** The Store interface of express-rate-limit 8, and of hono-rate-limiter 0.5. */
export interface ExpressRateLimitStore {
  readonly localKeys: false;
  /** The limiter's name and the option `prefix`. */
  readonly prefix: string;
  init(options: ExpressRateLimitInit): void;
  get(key: string): Promise<ClientHits | undefined>;
  increment(key: string): Promise<ClientHits>;
  decrement(key: string): Promise<void>;
  resetKey(key: string): Promise<void>;
}

/**
 * Returns a store for express-rate-limit, or hono-rate-limiter, that counts in a limiter with one policy. Hits are the permits taken. With
 * several policies all of them deny, but the hits are those of the policy with the fewest permits left.
 *
 * Pass a limiter with express-rate-limit's own limit, and the limiter decides. A denied request then takes nothing and
 * counts as one more than the limit. Or pass a function that makes a limiter for the window with a limit that is never
 * reached: `(windowMs) => new Limiter(store, [fixedWindow({ limit: 1e9, span: windowMs })])`. Then express-rate-limit
 * decides. Its limit may differ per request, and denied requests count, as in its other stores.
 *
 * With `skipFailedRequests` or `skipSuccessfulRequests`, a hit is returned if this process took a permit for it that
 * the limiter still counts. A denied request took no permit, so returning it changes nothing. Above 50 000 open keys,
 * the hits of the least recently used keys are not returned. Keys are handled as in `LimiterOptions.key`.
 *
 * `resetTime` is the time when all hits are forgotten. For a denied request it is the time when it would pass. Errors
 * of the limiter reach express-rate-limit (`passOnStoreError`). Throws ARGUMENT if `limiter` is not a limiter.
 */
export function expressRateLimitStore(
  limiter: CountingTaker | ((windowMs: number) => CountingTaker),
  options: ExpressRateLimitStoreOptions = {},
): ExpressRateLimitStore {
  return atSite("expressRateLimitStore", () => {
    const { prefix, clock } = settingsOf(EXPRESS_STORE, options);
    let taker = typeof limiter === "function" ? undefined : checkedTaker(limiter);
    let maxHits = 0;
    /** Undefined if no hits are returned, which `init` learns from the options of express-rate-limit. */
    let tally: Tally | undefined = new Tally();
    let returnsHits = false;
    let spanMs = 0;
    const ready = () => checkedTaker(taker);
    const idOf = (key: string) => {
      // express-rate-limit's own key is undefined for a request without an address.
      if (key === undefined || key === null) warnOnce("expressRateLimitStore", "a request has no key");
      else if (typeof key !== "string")
        throw argumentErrorOf("expressRateLimitStore", "key", key, "a string: the result of keyGenerator");
      return clientId(prefix + (key ?? NO_ADDRESS));
    };
    const until = (ms: number) => new Date(clock() + (Number.isFinite(ms) ? ms : 0));
    return {
      localKeys: false,
      // express-rate-limit takes keys with equal prefixes for one count of a client.
      get prefix() {
        return `${taker?.name ?? ""} ${prefix}`;
      },
      init({ windowMs, limit, skipFailedRequests, skipSuccessfulRequests }) {
        if (typeof limiter === "function") taker = checkedTaker(limiter(windowMs));
        if (typeof limit === "number") maxHits = limit;
        spanMs = windowMs;
        returnsHits ||= Boolean(skipFailedRequests || skipSuccessfulRequests);
        tally = returnsHits ? (tally ?? new Tally()) : undefined;
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
        // A request that passed while the store was unreachable took no permit, and its decision has no reset time.
        if (allowed && !degraded) tally?.took(id, clock(), resetAfterMs);
        else tally?.tookNothing(id, clock(), degraded ? spanMs : resetAfterMs);
        if (allowed) return { totalHits: Math.max(hitsOf(decision), 1), resetTime: until(resetAfterMs) };
        // express-rate-limit must deny what the limiter denied, even if its own limit is larger.
        const limit = Math.max(maxHits, Number.isFinite(decision.limit) ? decision.limit : 0);
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
