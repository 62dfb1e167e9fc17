import { argumentError } from "../base/errors.ts";
import type { Cost } from "../limits/limiter/cost.ts";
import type { Decision } from "../limits/limiter/decision.ts";

/** The members of `Limiter` that a middleware uses. */
export interface Taker {
  take(
    id: string,
    options?: { cost?: Cost | undefined; key?: unknown; request?: unknown; signal?: AbortSignal | undefined },
  ): Promise<Decision>;
  /** Returns a permit of a concurrency policy. Called when the response has ended. */
  release?(id: string, permit: string): Promise<unknown>;
}

/** The members of `Limiter` that the stores of other packages use. */
export interface CountingTaker extends Taker {
  /** Limiters with one name share their counts. */
  readonly name?: string;
  /** The current decision. Takes nothing. */
  peek(id: string): Promise<Decision>;
  /** Returns `permits`. */
  reward(id: string, permits: number): Promise<unknown>;
  /** Frees all permits. */
  reset(id: string): Promise<unknown>;
  /** Denies every call for this many ms. */
  block?(id: string, durationMs: number): Promise<unknown>;
}

/** A limiter, or a function that makes one for a window in ms and a limit. */
export type LimiterFor = CountingTaker | ((spanMs: number, limit: number) => CountingTaker);

/** A package whose limits are a function of the request passes few different ones. Above this number they are made anew. */
const MAX_LIMITERS = 1000;

/** The limiter for a window and a limit. Each is made once. Throws ARGUMENT if `limiterFor` is, or returns, no limiter. */
export function limitersOf(limiterFor: LimiterFor): (spanMs: number, limit: number) => CountingTaker {
  if (typeof limiterFor !== "function") {
    const one = checkedTaker(limiterFor);
    return () => one;
  }
  const made = new Map<string, CountingTaker>();
  return (spanMs, limit) => {
    const key = `${spanMs} ${limit}`;
    const known = made.get(key);
    if (known) return known;
    if (made.size >= MAX_LIMITERS) made.clear();
    const one = checkedTaker(limiterFor(spanMs, limit));
    made.set(key, one);
    return one;
  };
}

export function checkedTaker(taker: CountingTaker | undefined): CountingTaker {
  if (typeof taker?.take !== "function" || typeof taker.peek !== "function")
    throw argumentError("limiter", taker, "a Limiter, or a function that makes one for the window's ms");
  return taker;
}

/** Permits taken. 0 if the decision knows no policy, because the store is unreachable. */
export function hitsOf({ limit, remaining }: Decision): number {
  const hits = limit - remaining;
  return Number.isFinite(hits) ? Math.max(hits, 0) : 0;
}

/** Permits taken, as a package counts them that denies above `limit`: it denies what the limiter has denied, and nothing else. */
export function countedOf(decision: Decision, limit: number): number {
  return decision.allowed ? Math.min(Math.max(hitsOf(decision), 1), limit) : limit + 1;
}
