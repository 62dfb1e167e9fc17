import { argumentError, checkKnown, needlessArgument, signalOf } from "../../base/errors.ts";
import { type Schema, type SettingsOf, settingsOf, text } from "../../base/options.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { type Cost, costOf, isByPolicy } from "./cost.ts";
import type { LocalDecisions } from "./local-decisions.ts";
import type { Policy } from "./policies.ts";

/** How a limiter decides while the store is unreachable. */
export type OnStoreError = "throw" | "allow" | "deny" | LocalDecisions;

/** Options of `Limiter`. */
export interface LimiterOptions {
  /** Part of every key. Limiters with the same name and store share their counts. */
  name: string;
  /**
   * What calls that ask for permits do while the store is unreachable (DEADLINE, UNAVAILABLE): "throw" (default), "allow",
   * "deny", or `localDecisions()`, under which this process decides alone. Decisions without the store are `degraded`. A
   * request that the store received just before it stopped answering may count there too, once.
   */
  onStoreError?: OnStoreError | undefined;
  /**
   * How long a denial is repeated without a request, at most its `retryAfterMs`: 0 ms (default) to 100 ms. A reset, a reward
   * or a raised limit takes effect that much later. The cache has at most 8 MiB, with the latest denials.
   */
  denyCache?: Duration | undefined;
  /**
   * Fetches this number of permits ahead, and grants them without a request for this time, at most 1 s. Within one span each
   * process may then exceed the limit by `permits`. Has no effect with a concurrency policy. The cache has at most 8 MiB, about
   * 10 000 ids. Permits fetched for further ids are lost.
   */
  lease?: { permits: number; for: Duration } | undefined;
  /**
   * How long policies that a function has promised are kept for their id: 0 to 24 h, default "10s". A change takes effect within this
   * time. The cache has at most 8 MiB. Policies that the function returns at once are not kept.
   */
  cacheFor?: Duration | undefined;
}

/** Options of `Limiter.take`. */
export interface TakeOptions {
  /**
   * Permits: an integer from 0 to 2147483647, default 1, or an object of them by policy, where a policy that is left out costs 0.
   * A cost of 0 takes nothing, and is denied only by a block. Calls with costs by policy are asked one by one, without `lease` and
   * `denyCache`.
   */
  cost?: Cost | undefined;
  /** Accept fewer permits than the cost, which is then a number, down to this number. */
  atLeast?: number | undefined;
  /**
   * Calls with the same id count once within a minute, so a call with a lost reply is sent again. If the first call was
   * granted, the others get its answer; with another cost, `atLeast` or policies they reject with MISMATCH. The call is
   * decided again after a reset and while the id is blocked. Do not let clients choose it freely: repeated calls cost nothing.
   */
  requestId?: string | undefined;
  /**
   * Makes counts reachable for `takeAll`. All keys of one tag lie in one slot of a cluster, so one step can change them all.
   * Counts under a tag are separate from counts under other tags and without one. A tag that all calls share puts them on one
   * node; the name of a tenant or a user spreads them.
   */
  tag?: string | undefined;
  /** Other limits or spans for this call, for the same policy names and kinds in the same order. They act at once. */
  policies?: readonly Policy[] | undefined;
  /** A function of policies gets them. A middleware passes those of its request. */
  key?: unknown;
  request?: unknown;
  /** Rejects the call with its reason. A request that was sent may still count. */
  signal?: AbortSignal | undefined;
}

/** Options of `Limiter.acquire`, which waits for permits. */
export interface AcquireOptions extends Omit<TakeOptions, "atLeast" | "requestId"> {
  /** Longest wait; default "10s". */
  wait?: Duration | undefined;
}

const MAX_WAIT_MS = 2 ** 31 - 1;
const MAX_DENY_CACHE_MS = 100;
const MAX_LEASE_MS = 1000;
const MAX_CACHE_FOR_MS = 86_400_000;

/** Throws ARGUMENT for an unknown option or a wrong signal. */
export function checkCall(options: { signal?: AbortSignal }, known: readonly string[]): void {
  checkKnown(options, known);
  signalOf("signal", options.signal);
}

export const LIMITER = {
  name: [text],
  onStoreError: [onStoreErrorOf, "throw"],
  denyCache: [durationMs, 0, 0, MAX_DENY_CACHE_MS],
  lease: [(argument: string, lease: LimiterOptions["lease"]) => lease && settingsOf(LEASE, lease, argument)],
  cacheFor: [durationMs, 10_000, 0, MAX_CACHE_FOR_MS],
} as const satisfies Schema<LimiterOptions>;
const LEASE = { permits: [permitsOf], for: [durationMs, undefined, 1, MAX_LEASE_MS] } as const;

export type LimiterSettings = SettingsOf<typeof LIMITER>;

function onStoreErrorOf(argument: string, value: OnStoreError): OnStoreError {
  if (!["throw", "allow", "deny"].includes(value as string) && typeof Object(value).shareOf !== "function")
    throw argumentError(argument, value, '"throw", "allow", "deny" or localDecisions()');
  return value;
}

function permitsOf(argument: string, permits: number): number {
  if (permits === 0) throw argumentError(argument, 0, "an integer number of permits, 1 or more");
  return costOf(permits, argument);
}

export function checkPermit(permit: string): void {
  if (typeof permit !== "string" || !/^[0-9a-f]{32}$/.test(permit))
    throw argumentError("permit", permit, "the permit that take, acquire or takeAll has returned");
}

export function atLeastOf(atLeast: number, cost: Cost): number {
  if (isByPolicy(cost)) throw needlessArgument("atLeast", atLeast, "the cost is by policy");
  if (!Number.isSafeInteger(atLeast) || atLeast < 1 || atLeast > cost)
    throw argumentError("atLeast", atLeast, `an integer number of permits from 1 to the cost, ${cost}`);
  return atLeast;
}

export function waitMsOf(wait: Duration): number {
  return durationMs("wait", wait, 0, MAX_WAIT_MS);
}
