import type { Decision } from "../limits/limiter/decision.ts";

/** The members of `Limiter` that a middleware uses. */
export interface Taker {
  take(id: string, options?: { cost?: number | undefined; signal?: AbortSignal | undefined }): Promise<Decision>;
  /** Returns a permit of a concurrency policy. Called when the response has ended. */
  release?(id: string, permit: string): Promise<unknown>;
}

/** The members of `Limiter` that `expressRateLimitStore` uses. */
export interface CountingTaker extends Taker {
  /** Limiters with one name share their counts. */
  readonly name?: string;
  /** The current decision. Takes nothing. */
  peek(id: string): Promise<Decision>;
  /** Returns `permits`. */
  reward(id: string, permits: number): Promise<unknown>;
  /** Frees all permits. */
  reset(id: string): Promise<unknown>;
}
