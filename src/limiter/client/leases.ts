import { endsWithRequest } from "../../async/of-request.ts";
import type { Clock } from "../../time.ts";
import type { Decision } from "../decision.ts";
import type { Policy } from "../policies.ts";
import { decisionOf } from "../steps/decision-of.ts";
import { MODE } from "../steps/request.ts";
import type { DecisionClient } from "./decision-client.ts";
import { ExpiringCache, entryBytesOf, MAX_CACHE_BYTES } from "./expiring-cache.ts";
import type { Fallback } from "./fallback.ts";
import { isStoreFailure, withApplied } from "./store-failure.ts";

/** Permits fetched ahead: how many at a time, and for how long they may be given out. */
export interface LeaseSettings {
  permits: number;
  forMs: number;
}

/** Of a fetch whose request has ended nobody hears: another one begins after so long, in Workers. */
const LOST_MS = 500;

interface Fetch {
  asking: Promise<Decision>;
  sizeBytes: number;
  atMs: number;
}

type TakeOne = (keyPrefix: string, policies: readonly Policy[], cost: number) => Promise<Decision>;

interface Pool {
  permits: number;
  /** As the fetch was answered. */
  decision: Decision;
}

/**
 * Gives permits out of what was taken ahead, without asking. They were counted when they were fetched: what passes may
 * be late by up to `forMs`, so that within one span up to `permits` more than the limit may pass for each process, and
 * what is not given out in time is lost to everybody. So is what is held for ids beyond the bound (recent.ts); as many are
 * fetched for at a time, and of more ids each call asks for itself.
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

  /** `ask` takes for one caller, without fetching. */
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
      const pool = fetching ? undefined : this.#pools.get(keyPrefix);
      if (fetching) {
        if (endsWithRequest) return this.#ask(keyPrefix, policies, cost);
        const failure = await fetching.asking.then(
          ({ allowed }) => (allowed ? undefined : "denied"),
          (error: unknown) => error,
        );
        // Who waits for a fetch that the store fails, fails with it: not one deadline after another.
        if (isStoreFailure(failure))
          return this.#fallback.decideTake(keyPrefix, policies, cost, withApplied(failure, "no"));
        if (failure !== undefined) return this.#ask(keyPrefix, policies, cost);
      } else if (pool && pool.permits >= cost) {
        pool.permits -= cost;
        const { decision } = pool;
        return { ...decision, granted: cost, remaining: decision.remaining + pool.permits };
      } else if (this.#fetchingBytes >= MAX_CACHE_BYTES) return this.#ask(keyPrefix, policies, cost);
      else return this.#fetch(keyPrefix, policies, cost);
    }
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

  async #fetch(keyPrefix: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    const nowMs = this.#now();
    const untilMs = nowMs + this.#settings.forMs;
    const wanted = Math.max(cost, this.#settings.permits);
    const question = { keyPrefix, policies, cost: wanted, mode: MODE.take, isPartial: true, amount: cost };
    const asking = this.#client.ask(question).then((reply) => decisionOf(reply, policies, reply.permits, 0));
    const sizeBytes = entryBytesOf(keyPrefix, policies);
    const fetch = { asking, sizeBytes, atMs: nowMs };
    this.#pools.delete(keyPrefix);
    this.#fetching.set(keyPrefix, fetch);
    this.#fetchingBytes += sizeBytes;
    try {
      const decision = await asking;
      if (!decision.allowed) return decision;
      const permits = decision.granted - cost;
      // Where it was forgotten meanwhile, so is what was fetched.
      if (this.#fetching.get(keyPrefix) === fetch)
        this.#pools.set(keyPrefix, { permits, decision }, untilMs, sizeBytes);
      return { ...decision, granted: cost, remaining: decision.remaining + permits };
    } catch (error) {
      return this.#fallback.decideTake(keyPrefix, policies, cost, error);
    } finally {
      this.#forgetFetch(keyPrefix, fetch);
    }
  }
}
