export const KIND = { fixed: 1, sliding: 2, leaky: 3, concurrency: 4 } as const;

/** One policy as a step receives it. */
export interface Rule {
  kind: number;
  isShadow: boolean;
  /** Fixed windows start at multiples of the span since 1970. */
  isAligned: boolean;
  cost: number;
  limit: number;
  spanMs: number;
  /** Leaky bucket and GCRA: permits that become free in `spanMs`. */
  rate: number;
}
