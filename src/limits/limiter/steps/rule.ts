import type { Keyspace } from "../../../store/contract.ts";

/** One policy as a step receives it. */
export interface Rule {
  /** One of `KIND`. */
  kind: number;
  isShadow: boolean;
  /** Fixed windows start at multiples of the span since 1970. */
  isAligned: boolean;
  cost: number;
  limit: number;
  /** Calendar window: its begin, ms since 1970. */
  spanMs: number;
  /** Leaky bucket and GCRA: permits that become free in `spanMs`. Calendar window: its end, ms since 1970. */
  rate: number;
  /** Which calendar a window has, 1 to 255, whatever its time zone. 0 for other kinds. */
  calendar: number;
}

/** The state of one policy for one id, read and changed within one step. The twin of `p` in lua/limiter/state.lua. */
export interface PolicyState {
  /** Ms since 1970; 0 without a block. Only the state of a limiter's first policy is blocked. */
  blockedUntilMs: number;
  /**
   * End of the longest reservation, ms since 1970; 0 without one. In the state of a limiter's first policy, and in those of the others
   * if the end of one charges something.
   */
  reservedUntilMs: number;
  /** Permits taken. For a leaky bucket or GCRA: the level, in permits times ms. */
  readonly used: number;
  /** When all permits of a window have ended, ms since 1970. */
  readonly endMs?: number;
  /** Only of a calendar window, ms since 1970: what is owed since earlier is charged no more. */
  readonly startMs?: number;
  /** Permits left. Negative after a penalty or a lowered limit. */
  readonly free: number;
  /** Ms until `permits` fit, which do not fit now. Infinity: never. */
  waitMs(permits: number): number;
  /** Ms until all permits are free. */
  resetMs(): number;
  /** Takes `cost` permits for each of `calls` calls, even if they do not fit, and writes. */
  take(calls: number, cost: number, token: string): void;
  /** Gives permits back and writes. */
  giveBack(permits: number): void;
  /** Gives back the permits lent under a token. Only concurrency policies lend. */
  release?(token: string): void;
  write(): void;
}

/** Where a state lies, and the policy and time by which it is read. */
export interface StateContext {
  keys: Keyspace;
  key: string;
  rule: Rule;
  nowMs: number;
  /** Runs a change when all keys of the step are set. */
  afterStep(change: () => void): void;
}
