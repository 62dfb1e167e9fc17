/** The kind of a policy, as decisions and the registry name it. */
export type PolicyKind =
  | "fixed-window"
  | "sliding-window"
  | "leaky-bucket"
  | "gcra"
  | "concurrency"
  | "calendar-window";

/** The decision of one policy about a call. */
export interface PolicyDecision {
  /** The policy's name. Default: its kind. */
  name: string;
  kind: PolicyKind;
  /** Whether this policy allows the call. A shadow policy's decision has no effect. */
  allowed: boolean;
  shadow: boolean;
  /** Permits per span, capacity of a leaky bucket, or largest number of lent permits. */
  limit: number;
  /**
   * The time in which `limit` permits are granted: the window that is running, the time in which a full leaky bucket drains or a whole burst
   * of gcra becomes free; or the lease of a permit.
   */
  spanMs: number;
  /** Permits left after this call, without reserved ones. */
  remaining: number;
  /** Ms until the call would pass. 0 if it is allowed, Infinity for a cost above the limit. */
  retryAfterMs: number;
  /** Ms until all permits are free without further calls, except reserved ones. */
  resetAfterMs: number;
  /**
   * Only of a calendar window: when its permits are free again, by the store's clock, ms since 1970. That is its end. After a change of
   * the time zone it is the end of the last window in which they count. Absent if the store was not asked.
   */
  resetAtMs?: number;
}

/** The source of a degraded decision. */
export type DecidedBy = "allow" | "deny" | "local";

/** The answer to a call. A denial is a result, not an error. */
export interface Decision {
  allowed: boolean;
  /** Permits taken from the named policy: its cost, or fewer with `atLeast`. 0 for a denial. */
  granted: number;
  /** True if the store was unreachable and `onStoreError` decided. */
  degraded: boolean;
  degradedBy?: DecidedBy;
  /** Of a decision by this process alone: its share of each limit, from 1 down. The limits here are those of the share. */
  share?: number;
  /** Name of the policy that denied, else of the one with the fewest permits left. "block" if the id is blocked. */
  policy: string;
  /** The limit of that policy. */
  limit: number;
  remaining: number;
  /** After exactly this time the call passes, if no other call takes permits first. 0 if it is allowed. */
  retryAfterMs: number;
  /** The longest of all policies. */
  resetAfterMs: number;
  /** In the order of the policies. */
  policies: readonly PolicyDecision[];
  /** Identifies the permits of a concurrency policy, for `limiter.release`. Absent without one. */
  permit?: string;
}
