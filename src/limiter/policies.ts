import { argumentError, checkKnown } from "../errors.ts";
import { placed } from "../place.ts";
import { type Duration, durationMs } from "../time.ts";
import type { PolicyKind } from "./decision.ts";
import { ConcurrencyState } from "./steps/concurrency.ts";
import { constants } from "./steps/constants.ts";
import { FixedWindowState } from "./steps/fixed-window.ts";
import { LeakyBucketState } from "./steps/leaky-bucket.ts";
import { KIND, type StateClass } from "./steps/rule.ts";
import { SlidingWindowState } from "./steps/sliding-window.ts";

/** What every policy may be given. */
export interface PolicyOptions {
  /** Names the policy in decisions, headers and keys; default: its kind. 1 to 64 of A-Z a-z 0-9 . _ - */
  name?: string | undefined;
  /** Decides, reports and counts, but refuses nobody. */
  shadow?: boolean | undefined;
}

/** A limit as a limiter is given it: made by fixedWindow, slidingWindow, leakyBucket, gcra or concurrency. */
export interface Policy {
  readonly name: string;
  readonly kindName: PolicyKind;
  readonly kind: number;
  /** @internal A policy brings its twin, so that a bundle has only those of its policies. */
  readonly State: StateClass;
  readonly limit: number;
  readonly spanMs: number;
  readonly rate: number;
  readonly isAligned: boolean;
  readonly isShadow: boolean;
}

export interface WindowPolicy extends PolicyOptions {
  /** Permits per span: a whole number from 0 (nobody passes) to 2^47. */
  limit: number;
  /** From 1 ms. */
  span: Duration;
}

/**
 * At most `limit` permits between the start of a window and its end. It starts with its first call or, `aligned`, at a
 * multiple of the span since 1970 (UTC); a call with another span may begin another one. Across two windows up to twice the limit pass within one span. Some 40 bytes.
 */
export function fixedWindow(options: WindowPolicy & { aligned?: boolean | undefined }): Policy {
  return placed("fixedWindow", () => {
    checkKnown(options, ["limit", "span", "aligned", "name", "shadow"]);
    const { limit, span, aligned = false } = options;
    const spanMs = durationMs("span", span, 1, MAX_SPAN_MS);
    return policy(
      options,
      "fixed-window",
      KIND.fixed,
      FixedWindowState,
      whole("limit", limit, MAX_PERMITS),
      spanMs,
      0,
      aligned,
    );
  });
}

/**
 * In no span of time, wherever it begins, more than `limit` permits: exact. 12 bytes for each ms in which permits were
 * taken, a half more while it grows; a call costs O(log limit). Beyond 4 194 304 such ms in a span: OVERLOADED.
 */
export function slidingWindow(options: WindowPolicy): Policy {
  return placed("slidingWindow", () => {
    checkKnown(options, ["limit", "span", "name", "shadow"]);
    const spanMs = durationMs("span", options.span, 1, MAX_SPAN_MS);
    return policy(
      options,
      "sliding-window",
      KIND.sliding,
      SlidingWindowState,
      whole("limit", options.limit, MAX_PERMITS),
      spanMs,
      0,
    );
  });
}

export interface LeakyBucketPolicy extends PolicyOptions {
  /** Permits that an empty bucket takes at once. */
  capacity: number;
  /** In which a full bucket runs empty, evenly. */
  span: Duration;
}

/**
 * A bucket that leaks `capacity` permits per `span`; a call pours its cost in, if it fits. Counted in whole
 * numbers of permits times ms: nothing drifts. capacity x span: at most 2^52. Some 48 bytes.
 */
export function leakyBucket(options: LeakyBucketPolicy): Policy {
  return placed("leakyBucket", () => {
    checkKnown(options, ["capacity", "span", "name", "shadow"]);
    const spanMs = durationMs("span", options.span, 1, MAX_SPAN_MS);
    const capacity = whole("capacity", options.capacity, Math.floor(constants.maxLevel / spanMs));
    return policy(options, "leaky-bucket", KIND.leaky, LeakyBucketState, capacity, spanMs, Math.max(1, capacity));
  });
}

/**
 * `limit` permits per span, one every span / limit, and up to `burst` (default: the limit) at once after a pause: the
 * generic cell rate algorithm, in whole numbers. burst x span and limit x span: at most 2^52. Some 48 bytes.
 */
export function gcra(options: WindowPolicy & { burst?: number | undefined }): Policy {
  return placed("gcra", () => {
    checkKnown(options, ["limit", "span", "burst", "name", "shadow"]);
    const spanMs = durationMs("span", options.span, 1, MAX_SPAN_MS);
    const most = Math.floor(constants.maxLevel / spanMs);
    const limit = whole("limit", options.limit, most);
    const burst = whole("burst", options.burst ?? limit, most);
    return policy(options, "gcra", KIND.leaky, LeakyBucketState, limit === 0 ? 0 : burst, spanMs, Math.max(1, limit));
  });
}

export interface ConcurrencyPolicy extends PolicyOptions {
  /** How many permits may be lent at a time: 0 to 10 000. */
  limit: number;
  /** After which a permit that was not given back is free again. */
  lease: Duration;
}

/** At most `limit` permits lent at a time: given back by `limiter.release`, or over with their lease. 32 bytes each. */
export function concurrency(options: ConcurrencyPolicy): Policy {
  return placed("concurrency", () => {
    checkKnown(options, ["limit", "lease", "name", "shadow"]);
    const leaseMs = durationMs("lease", options.lease, 1, MAX_SPAN_MS);
    return policy(
      options,
      "concurrency",
      KIND.concurrency,
      ConcurrencyState,
      whole("limit", options.limit, MAX_LENT),
      leaseMs,
      0,
    );
  });
}

/** Whether a call takes permits that are given back. */
export function hasConcurrency(policies: readonly Policy[]): boolean {
  return policies.some(({ kind }) => kind === KIND.concurrency);
}

/** Some 140 000 years: the present and a span together are still whole numbers. */
const MAX_SPAN_MS = 2 ** 52;
const MAX_PERMITS = 2 ** 47;
const MAX_LENT = 10_000;

function policy(
  { name, shadow = false }: PolicyOptions,
  kindName: PolicyKind,
  kind: number,
  State: StateClass,
  limit: number,
  spanMs: number,
  rate: number,
  isAligned = false,
): Policy {
  if (name !== undefined && (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name)))
    throw argumentError("name", name, "1 to 64 of A-Z a-z 0-9 . _ -");
  if (typeof shadow !== "boolean") throw argumentError("shadow", shadow, "true or false");
  if (typeof isAligned !== "boolean") throw argumentError("aligned", isAligned, "true or false");
  return Object.freeze({
    name: name ?? kindName,
    kindName,
    kind,
    State,
    limit,
    spanMs,
    rate,
    isAligned,
    isShadow: shadow,
  });
}

function whole(argument: string, value: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < 0 || value > most)
    throw argumentError(argument, value, `a whole number of permits from 0 to ${most}`);
  return value;
}
