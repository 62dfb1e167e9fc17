import { argumentError } from "../../base/errors.ts";
import { flag, given, type Schema, type SettingsOf, settingsOf, text } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { KIND, MAX_LEVEL } from "../../generated/layouts/limiter.ts";
import { acquireInTurn, forgetTurns } from "./client/turns.ts";
import type { PolicyKind } from "./decision.ts";
import type { Rule } from "./steps/rule.ts";

/** Options of every policy. */
export interface PolicyOptions {
  /** The policy's name in decisions, headers and keys: 1 to 64 characters A-Z a-z 0-9 . _ -. Default: its kind. */
  name?: string | undefined;
  /** The policy decides, reports and counts, but denies no call. */
  shadow?: boolean | undefined;
}

/** The calendar of a policy, with the window that the next request names. Equal policies share one. */
export interface PolicyCalendar {
  readonly every: "day" | "week" | "month";
  readonly timeZone: string;
  readonly startsAt: number;
  /** @internal What rules say of the window: which calendar it has, its begin and its end. */
  readonly terms: Pick<Rule, "calendar" | "spanMs" | "rate">;
  /** @internal Turns to the window that holds an instant of the store's clock. */
  turnTo(nowMs: number): void;
  /** @internal The moment, and the length of the window that ends then or goes on. Warns once if this process knows no such end. */
  timesUntil(endMinute: number): { resetAtMs: number; spanMs: number };
}

/** A limit. Made by fixedWindow, slidingWindow, leakyBucket, gcra, concurrency or calendarWindow. */
export interface Policy {
  readonly name: string;
  readonly kindName: PolicyKind;
  readonly kind: number;
  readonly limit: number;
  readonly spanMs: number;
  readonly rate: number;
  readonly isAligned: boolean;
  readonly isShadow: boolean;
  /** Only of a calendar window. Only a bundle with such a policy has its code. */
  readonly calendar?: PolicyCalendar;
  /** @internal Of a concurrency policy: how callers wait. Only a bundle with such a policy has the code of holds. */
  readonly turns?: typeof TURNS;
}

/** Options of the policies `slidingWindow` and `fixedWindow`. */
export interface WindowPolicy extends PolicyOptions {
  /** Permits per span: an integer from 0 (no call passes) to 2^47. */
  limit: number;
  /** At least 1 ms. */
  span: Duration;
}

/**
 * A fixed window: at most `limit` permits from its start to its end. It starts with its first call or, if `aligned`, at a
 * multiple of the span since 1970 (UTC). A call with another span may start a new window. Up to twice the limit can pass
 * within one span that covers parts of two windows. Takes about 40 bytes per id.
 */
export function fixedWindow(options: WindowPolicy & { aligned?: boolean | undefined }): Policy {
  return atSite("fixedWindow", () => {
    const settings = settingsOf({ limit: PERMITS, span: SPAN, aligned: [flag, false], ...POLICY }, options);
    return policy(settings, "fixed-window", KIND.fixed, settings.limit, 0, settings.aligned);
  });
}

/**
 * An exact sliding window: no span of time, wherever it begins, has more than `limit` permits. Takes 2 to 4 bytes for each ms
 * with permits, above 508 bytes 12, and up to half more while it grows. A call costs O(log limit). Throws OVERLOADED above
 * 4 194 304 such ms in a span.
 */
export function slidingWindow(options: WindowPolicy): Policy {
  return atSite("slidingWindow", () => {
    const settings = settingsOf({ limit: PERMITS, span: SPAN, ...POLICY }, options);
    return policy(settings, "sliding-window", KIND.sliding, settings.limit, 0);
  });
}

/** Options of the policy `leakyBucket`. */
export interface LeakyBucketPolicy extends PolicyOptions {
  /** Permits that an empty bucket accepts at once. */
  capacity: number;
  /** Time in which a full bucket drains, at a constant rate. */
  span: Duration;
}

/**
 * A leaky bucket: it drains `capacity` permits per `span`, and a call adds its cost if it fits. The level is an integer number
 * of permits times ms, so it does not drift. capacity x span is at most 2^52. Takes about 48 bytes per id.
 */
export function leakyBucket(options: LeakyBucketPolicy): Policy {
  return atSite("leakyBucket", () => {
    const settings = settingsOf({ capacity: LEVEL, span: SPAN, ...POLICY }, options);
    const capacity = whole("capacity", settings.capacity, Math.floor(MAX_LEVEL / settings.spanMs));
    return policy(settings, "leaky-bucket", KIND.leaky, capacity, Math.max(1, capacity));
  });
}

/**
 * The generic cell rate algorithm in integers. It grants `limit` permits per span, one every span / limit, and up to `burst`
 * (default: the limit) at once after a pause. burst x span and limit x span are at most 2^52. Takes about 48 bytes per id.
 * Source: ATM Forum, Traffic Management 4.0.
 */
export function gcra(options: WindowPolicy & { burst?: number | undefined }): Policy {
  return atSite("gcra", () => {
    const settings = settingsOf({ limit: LEVEL, span: SPAN, burst: [given<number | undefined>], ...POLICY }, options);
    const most = Math.floor(MAX_LEVEL / settings.spanMs);
    const limit = whole("limit", settings.limit, most);
    const burst = whole("burst", settings.burst ?? limit, most);
    return policy(settings, "gcra", KIND.leaky, limit === 0 ? 0 : burst, Math.max(1, limit));
  });
}

/** Options of the policy `concurrency`. */
export interface ConcurrencyPolicy extends PolicyOptions {
  /** Largest number of lent permits: 0 to 10 000. */
  limit: number;
  /** Time after which a permit is free again without a `release`. */
  lease: Duration;
}

/** A concurrency limit: at most `limit` permits are lent, until `limiter.release` or the end of their lease. Takes 32 bytes each. */
export function concurrency(options: ConcurrencyPolicy): Policy {
  return atSite("concurrency", () => {
    const { leaseMs: spanMs, ...settings } = settingsOf(
      { limit: [whole, undefined, MAX_LENT], lease: SPAN, ...POLICY },
      options,
    );
    const own = policy({ ...settings, spanMs }, "concurrency", KIND.concurrency, settings.limit, 0);
    // Not enumerable, because the settings of a policy are announced as JSON.
    return Object.freeze(Object.defineProperty({ ...own }, "turns", { value: TURNS }));
  });
}

/** The time in which a policy grants `limit` permits. Of gcra that is the time in which a whole burst becomes free. */
export function quotaMsOf({ limit, spanMs, rate }: Pick<Policy, "limit" | "spanMs" | "rate">): number {
  return limit === 0 || rate === 0 || rate === limit ? spanMs : Math.ceil((limit * spanMs) / rate);
}

/** Whether two lists have the same policies. A function of the id may make equal ones anew for each call. */
export function arePoliciesEqual(one: readonly Policy[], other: readonly Policy[]): boolean {
  return one === other || (one.length === other.length && one.every((policy, i) => isEqual(policy, other[i]!)));
}

function isEqual(one: Policy, other: Policy): boolean {
  return (
    one === other ||
    (one.kind === other.kind &&
      one.limit === other.limit &&
      one.spanMs === other.spanMs &&
      one.rate === other.rate &&
      one.name === other.name &&
      one.kindName === other.kindName &&
      one.isAligned === other.isAligned &&
      one.calendar === other.calendar &&
      one.isShadow === other.isShadow)
  );
}

/** Turns all calendar windows to the time of the store. */
export function turnTo(policies: readonly Policy[], nowMs: number): void {
  for (const { calendar } of policies) calendar?.turnTo(nowMs);
}

/** How callers wait for permits that are returned. Undefined if there are none. */
export function turnsOf(policies: readonly Policy[]): Policy["turns"] {
  return policies.find(({ turns }) => turns)?.turns;
}

/** Whether a call takes permits that are returned. */
export function hasConcurrency(policies: readonly Policy[]): boolean {
  return policies.some(({ kind }) => kind === KIND.concurrency);
}

/** About 140 000 years. The present plus a span is still an exact integer. */
const MAX_SPAN_MS = 2 ** 52;
const MAX_PERMITS = 2 ** 47;
const MAX_LENT = 10_000;
const TURNS = { acquire: acquireInTurn, forget: forgetTurns };

const SPAN = [durationMs, undefined, 1, MAX_SPAN_MS] as const;
export const PERMITS = [whole, undefined, MAX_PERMITS] as const;
/** Permits whose bound depends on the span. */
const LEVEL = [given<number>] as const;
/** The options of every policy. */
export const POLICY = {
  name: [text, null, "1 to 64 characters of A-Z a-z 0-9 . _ -", /^[\w.-]{1,64}$/],
  shadow: [flag, false],
} as const satisfies Schema<PolicyOptions>;

export function policy(
  { name, shadow, spanMs }: SettingsOf<typeof POLICY> & { spanMs: number },
  kindName: PolicyKind,
  kind: number,
  limit: number,
  rate: number,
  isAligned = false,
): Policy {
  return Object.freeze({
    name: name ?? kindName,
    kindName,
    kind,
    limit,
    spanMs,
    rate,
    isAligned,
    isShadow: shadow,
  });
}

function whole(argument: string, value: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < 0 || value > most)
    throw argumentError(argument, value, `an integer number of permits from 0 to ${most}`);
  return value;
}

/** The permits that a step takes: one number for every policy, or one for each, in their order. */
export type Costs = number | readonly number[];

export function costAt(costs: Costs, i: number): number {
  return typeof costs === "number" ? costs : costs[i]!;
}
