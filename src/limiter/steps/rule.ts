export const KIND = { fixed: 1, sliding: 2, leaky: 3, concurrency: 4 } as const;

/** A policy as one step is given it. */
export interface Rule {
  kind: number;
  isShadow: boolean;
  /** Fixed windows begin at multiples of the span since 1970. */
  isAligned: boolean;
  cost: number;
  limit: number;
  spanMs: number;
  /** Leaky bucket and GCRA: permits that become free in `spanMs`. */
  rate: number;
}

/** A policy's state, looked at; the twin of `p` in lua/limiter/state.lua. */
export interface Looked {
  blockedUntilMs: number;
  holdsUntilMs: number;
  /** Permits; the level of a leaky bucket or GCRA. */
  used: number;
  /** Permits that are left; below 0 after a penalty or a lowered limit. */
  free: number;
  /** Ms until so many fit, where they do not now; Infinity: never. */
  waitMs(permits: number): number;
  /** Ms until all are free. */
  resetMs(): number;
  /** Takes so many permits for each call, whether they fit or not. */
  put(calls: number, cost: number, token: string): void;
  back(permits: number): void;
  /** Ends what a token of a concurrency policy holds. */
  release?(token: string): void;
  /** Writes what stands. */
  write(): void;
}

/** What every kind's value under a key begins with. */
export interface State {
  kind: number;
  blockedUntilMs: number;
  holdsUntilMs: number;
}
