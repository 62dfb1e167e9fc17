export type PolicyKind = "fixed-window" | "sliding-window" | "leaky-bucket" | "gcra" | "concurrency";

/** What one policy says to a call. */
export interface PolicyDecision {
  /** As given to the policy, else its kind. */
  name: string;
  kind: PolicyKind;
  /** Whether this policy lets the call pass; a shadow policy's word does not count. */
  allowed: boolean;
  shadow: boolean;
  /** Permits per span, the leaky bucket's capacity, or how many may be held at once. */
  limit: number;
  /** The window, the time in which a full leaky bucket runs empty, the lease of a permit. */
  spanMs: number;
  /** Whole permits left after this call, less those that are reserved. */
  remaining: number;
  /** 0 where it lets the call pass; Infinity where it never will (a cost above the limit). */
  retryAfterMs: number;
  /** After how long without calls all permits are there again, but what is reserved. */
  resetAfterMs: number;
}

/** Where a decision does not come from the store. */
export type DecidedBy = "allow" | "deny" | "local";

/** The answer to a call. Denial is a result, no error. */
export interface Decision {
  allowed: boolean;
  /** Permits taken: the cost, less where `atLeast` accepts less, 0 where denied. */
  granted: number;
  /** True where the store could not be asked, and `onStoreError` decided. */
  degraded: boolean;
  degradedBy?: DecidedBy;
  /** Name of the policy that refused, or of the one with the fewest permits left; "block" where the id is blocked. */
  policy: string;
  /** Of that policy. */
  limit: number;
  remaining: number;
  /** Waiting exactly that long, and nobody else taking, the call passes. */
  retryAfterMs: number;
  /** The longest of all policies. */
  resetAfterMs: number;
  /** In the order of the policies. */
  policies: readonly PolicyDecision[];
  /** Gives back what a concurrency policy lent (`limiter.release`); absent without one. */
  permit?: string;
}
