import type { Decision } from "../limiter/decision.ts";

/** What a middleware needs of a limiter; `Limiter` is one. */
export interface Taker {
  take(id: string, options?: { cost?: number | undefined; signal?: AbortSignal | undefined }): Promise<Decision>;
  /** Gives back what a concurrency policy lent; called when the response has ended. */
  release?(id: string, permit: string): Promise<unknown>;
}

/** What a store of counts needs besides; `Limiter` has it. */
export interface CountingTaker extends Taker {
  /** The present decision; nothing is taken. */
  peek(id: string): Promise<Decision>;
  /** Gives `permits` back. */
  reward(id: string, permits: number): Promise<unknown>;
  /** Forgets all that was taken. */
  reset(id: string): Promise<unknown>;
}
