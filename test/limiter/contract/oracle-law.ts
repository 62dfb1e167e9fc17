/** What a call comes with: permits at most, and in what time; `rate`: permits that a leaky bucket or GCRA loses in that time. */
export interface Terms {
  limit: number;
  spanMs: number;
  rate: number;
}

export type Verb = "take" | "peek" | "penalty" | "reward" | "release";

export interface Answer {
  allowed: boolean;
  remaining: number;
  retryAfterMs: number;
  resetAfterMs: number;
}

/** What one policy counts for one id, kept as plainly as can be. */
export interface Law {
  /** Comes first in every step: what is over is forgotten. */
  look(nowMs: number, terms: Terms): void;
  free(): number;
  /** Ms until so many are free, nobody else taking; Infinity: never. */
  waitMs(permits: number): number;
  resetMs(): number;
  take(permits: number): void;
  back(permits: number): void;
  /** Concurrency: gives back the n-th that was ever lent. */
  release(n: number): void;
}
