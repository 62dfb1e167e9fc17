import type { Rule } from "./rule.ts";

export const MODE = {
  take: 0,
  peek: 1,
  add: 2,
  giveBack: 3,
  block: 4,
  reset: 5,
  reserve: 6,
  settle: 7,
  release: 8,
} as const;
export const STATUS = { decided: 0, holdsNeeded: 1, notReserved: 2, settled: 3 } as const;

/** What one step is asked; layout in lua/limiter/decide.lua. */
export interface Ask {
  mode: number;
  /** Alike calls that are decided together, as if one came after the other. */
  calls: number;
  /** Partial: fewer permits than the cost will do, down to `amount`. */
  isPartial: boolean;
  /** Permits; block: ms; reserve: lease, ms. */
  amount: number;
  /** 32 hexadecimal digits: of a permit or reservation. */
  token: string;
  rules: readonly Rule[];
  /** Whether the i-th policy is the first of its limiter, whose state tells of blocks and holds. */
  isHead: readonly boolean[];
  /** What goes on after `key` in each key: of the policies, then of the holds of each limiter, then of the request. */
  endings: readonly string[];
  hasHolds: boolean;
  hasRequest: boolean;
}

export interface PolicyReply {
  /** So many of the calls the policy would let pass. */
  passes: number;
  /** Permits; the level of a leaky bucket or GCRA. */
  used: number;
  /** Permits that are reserved. */
  held: number;
  /** For the first call that it refuses; 0 where it refuses none. */
  waitMs: number;
  resetMs: number;
}

export interface Reply {
  status: number;
  /** So many of the calls passed: the first ones. */
  granted: number;
  /** Permits of each. */
  permits: number;
  blockedMs: number;
  policies: readonly PolicyReply[];
}
