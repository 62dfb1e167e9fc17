/** The terms of a call: most permits, and their span. `rate`: permits that a leaky bucket or GCRA drains in that span. */
export interface Terms {
  limit: number;
  spanMs: number;
  rate: number;
  calendar?: CalendarTerms;
}

/** A calendar in a zone whose clocks are always `aheadMs` ahead of UTC. */
export interface CalendarTerms {
  every: "day" | "week" | "month";
  startsAt: number;
  aheadMs: number;
}

export type Verb = "take" | "peek" | "penalty" | "reward" | "release";

export interface Answer {
  allowed: boolean;
  remaining: number;
  retryAfterMs: number;
  resetAfterMs: number;
}

/** The state of one policy for one id, in the simplest form. */
export interface Law {
  /** Comes first in every step: what is over is forgotten. */
  look(nowMs: number, terms: Terms): void;
  free(): number;
  /** Ms until this number of permits is free without other calls. Infinity: never. */
  waitMs(permits: number): number;
  resetMs(): number;
  take(permits: number): void;
  back(permits: number): void;
  /** Concurrency: gives back the n-th that was ever lent. */
  release(n: number): void;
}
