import { NO_LOCAL_FORM, sharedByEqualCopies } from "../../../base/copies.ts";
import { OrielError } from "../../../base/errors.ts";
import type { Step } from "../../../store/contract.ts";
import type { Rule } from "./rule.ts";

/** The input of one step. layouts/limiter.mjs has its records. */
export interface DecideRequest {
  /** One of `MODE`. */
  mode: number;
  /** Number of equal calls, which are decided in one step as if one came after the other. */
  calls: number;
  /** Whether fewer permits than the cost are enough, down to `amount`. */
  isPartial: boolean;
  /** Permits. Mode block: ms. Mode reserve: the lease, ms. */
  amount: number;
  /** 32 hexadecimal digits, which name a permit or a reservation; "" for none. */
  token: string;
  rules: readonly Rule[];
  /** Whether the i-th policy is its limiter's first. The first one's state has the limiter's block and reservations. */
  isHead: readonly boolean[];
  /** What follows `key` in each key of the step: policies, then each limiter's reservations, then the request's two. */
  keySuffixes: readonly string[];
  hasReservations: boolean;
  hasRequest: boolean;
}

export interface PolicyReply {
  /** Number of calls that the policy allows. */
  passes: number;
  /** Permits taken; for a leaky bucket or GCRA, the level. */
  used: number;
  /** Permits reserved. */
  reserved: number;
  /** Ms until the first refused call passes; 0 if none is refused. */
  waitMs: number;
  resetMs: number;
}

export interface DecideReply {
  /** One of `STATUS`. */
  status: number;
  /** Number of calls that passed, the first ones. */
  granted: number;
  /** Permits that each of them got. */
  permits: number;
  blockedMs: number;
  policies: readonly PolicyReply[];
}

export function keysOf(key: string, { keySuffixes }: DecideRequest): string[] {
  return keySuffixes.map((suffix) => key + suffix);
}

type LocalForm = Step<DecideRequest, DecideReply>["local"];

/** The form of the step in this process. Only a bundle with `memoryStore` or `localDecisions` has one. */
export const localForm = /* @__PURE__ */ sharedByEqualCopies<{ decide: LocalForm }>("decide", () => ({
  decide() {
    throw new OrielError("MISMATCH", NO_LOCAL_FORM);
  },
}));

/** `memoryStore` and `localDecisions` call it. */
export function provideLocalForm(decide: LocalForm): void {
  localForm.decide = decide;
}
