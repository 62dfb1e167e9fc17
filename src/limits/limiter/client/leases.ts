import { endsWithRequest } from "../../../base/async/of-request.ts";
import type { Clock } from "../../../base/time.ts";
import { MODE } from "../../../generated/layouts/limiter.ts";
import type { Decision } from "../decision.ts";
import { arePoliciesEqual, type Policy } from "../policies.ts";
import { type DecisionClient, decisionOf, type Fallback } from "./decision-client.ts";
import { ExpiringCache, entryBytesOf, MAX_CACHE_BYTES } from "./expiring-cache.ts";
import { isStoreFailure, withApplied } from "./store-failure.ts";

/** The number of permits to fetch ahead, and how long they may be granted. */
export interface LeaseSettings {
  permits: number;
  forMs: number;
}

/** In Workers a fetch may end with its request, without an answer. Another one begins after this time. */
const LOST_MS = 500;

interface Fetch {
  asking: Promise<Decision>;
  sizeBytes: number;
  atMs: number;
}

type TakeOne = (keyPrefix: string, policies: readonly Policy[], cost: number) => Promise<Decision>;

interface Pool {
  permits: number;
  /** The policies of the fetch. If a call has others, the pool is not used, because the id's plan has changed. */
  policies: readonly Policy[];
  /** The answer to the fetch. */
  decision: Decision;
}

/**
 * Grants permits that were fetched ahead, without a request. They count at the time of the fetch and may be used up to
 * `forMs` later, so within one span each process may exceed the limit by `permits`. A call that needs more than is left uses
 * the rest and fetches what it lacks. Permits that are not granted in time, or are evicted from the cache, are lost. Fetches under way have the same bound; above it, each call asks for itself.
 */
export class Leases {
  readonly #client: DecisionClient;
  readonly #fallback: Fallback;
  readonly #settings: LeaseSettings;
  readonly #ask: TakeOne;
  readonly #now: Clock;
  readonly #pools: ExpiringCache<Pool>;
  readonly #fetching = new Map<string, Fetch>();
  #fetchingBytes = 0;

  /** `ask` takes for one caller, without a fetch. */
  constructor(client: DecisionClient, fallback: Fallback, settings: LeaseSettings, ask: TakeOne, now: Clock) {
    this.#ask = ask;
    this.#client = client;
    this.#fallback = fallback;
    this.#settings = settings;
    this.#now = now;
    this.#pools = new ExpiringCache(now);
  }

  async take(keyPrefix: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    for (;;) {
      const fetching = this.#fetchOf(keyPrefix);
      if (fetching) {
        if (endsWithRequest) return this.#ask(keyPrefix, policies, cost);
        const failure = await fetching.asking.then(
          ({ allowed }) => (allowed ? undefined : "denied"),
          (error: unknown) => error,
        );
        // Callers that wait for a fetch fail with it, so no caller waits for two deadlines.
        if (isStoreFailure(failure))
          return this.#fallback.decideTake(keyPrefix, policies, cost, withApplied(failure, "no"));
        if (failure !== undefined)
          return this.#takeFrom(this.#poolOf(keyPrefix, policies), cost) ?? this.#ask(keyPrefix, policies, cost);
        continue;
      }
      const pool = this.#poolOf(keyPrefix, policies);
      const taken = this.#takeFrom(pool, cost);
      if (taken) return taken;
      if (this.#fetchingBytes >= MAX_CACHE_BYTES) return this.#ask(keyPrefix, policies, cost);
      return this.#fetch(keyPrefix, policies, cost, pool);
    }
  }

  #poolOf(keyPrefix: string, policies: readonly Policy[]): Pool | undefined {
    const pool = this.#pools.get(keyPrefix);
    return pool && arePoliciesEqual(pool.policies, policies) ? pool : undefined;
  }

  /** Undefined if the pool has too few permits. */
  #takeFrom(pool: Pool | undefined, cost: number): Decision | undefined {
    if (!pool || pool.permits < cost) return undefined;
    pool.permits -= cost;
    return { ...pool.decision, granted: cost, remaining: pool.decision.remaining + pool.permits };
  }

  forget(keyPrefix: string): void {
    this.#pools.delete(keyPrefix);
    this.#forgetFetch(keyPrefix, this.#fetching.get(keyPrefix));
  }

  #fetchOf(keyPrefix: string): Fetch | undefined {
    if (!endsWithRequest) return this.#fetching.get(keyPrefix);
    const lostMs = this.#now() - LOST_MS;
    for (const [each, fetch] of this.#fetching) {
      if (fetch.atMs > lostMs) break;
      this.#forgetFetch(each, fetch);
    }
    return this.#fetching.get(keyPrefix);
  }

  #forgetFetch(keyPrefix: string, fetch: Fetch | undefined): void {
    if (!fetch || this.#fetching.get(keyPrefix) !== fetch) return;
    this.#fetchingBytes -= fetch.sizeBytes;
    this.#fetching.delete(keyPrefix);
  }

  /** `pool` has fewer permits than the call needs. All of them are part of what it takes; a denial leaves them there. */
  async #fetch(
    keyPrefix: string,
    policies: readonly Policy[],
    cost: number,
    pool: Pool | undefined,
  ): Promise<Decision> {
    const nowMs = this.#now();
    const untilMs = nowMs + this.#settings.forMs;
    const own = pool?.permits ?? 0;
    const needed = cost - own;
    const wanted = Math.max(needed, this.#settings.permits);
    const request = { keyPrefix, policies, cost: wanted, mode: MODE.take, isPartial: true, amount: needed };
    const asking = this.#client.ask(request).then((reply) => decisionOf(reply, policies, reply.permits, 0));
    const sizeBytes = entryBytesOf(keyPrefix, policies);
    const fetch = { asking, sizeBytes, atMs: nowMs };
    this.#fetching.set(keyPrefix, fetch);
    this.#fetchingBytes += sizeBytes;
    try {
      const decision = await asking;
      if (!decision.allowed) return { ...decision, remaining: decision.remaining + own };
      const permits = decision.granted - needed;
      // If `forget` was called since, the fetched permits are dropped, and the pool's no longer count.
      if (this.#fetching.get(keyPrefix) === fetch)
        this.#pools.set(keyPrefix, { permits, policies, decision }, untilMs, sizeBytes);
      else if (own > 0) return await this.#ask(keyPrefix, policies, cost);
      return { ...decision, granted: cost, remaining: decision.remaining + permits };
    } catch (error) {
      return this.#fallback.decideTake(keyPrefix, policies, cost, error);
    } finally {
      this.#forgetFetch(keyPrefix, fetch);
    }
  }
}
