import { argumentError, checkKnown, checkSignal } from "../errors.ts";
import { type Duration, durationMs } from "../time.ts";
import type { Policy } from "./policies.ts";

export interface LimiterOptions {
  /** TakePart of every key; limiters of one name and one store share what they count. */
  name: string;
  /**
   * What calls that ask for permits do while the store is out of reach (DEADLINE, UNAVAILABLE): "throw" (default); "allow"
   * or "deny"; "local": decide by what this process alone has let pass meanwhile, up to its share of each limit; it knows of
   * no blocks. Decisions then say `degraded`. A call that the store got before it fell silent may count there too, once.
   */
  onStoreError?: "throw" | "allow" | "deny" | "local" | undefined;
  /** A process's share of each limit under "local": above 0, at most 1 (default). At least one permit. */
  localShare?: number | undefined;
  /**
   * For how long a denial is given again without asking, at most its `retryAfterMs`; 0 ms (default) to 100 ms. A reset, a
   * reward or a raised limit acts that much later. Reservations 8 MiB at most, the latest denials.
   */
  denyCache?: Duration | undefined;
  /**
   * Permits fetched ahead, so many at a time, and given out without asking for so long. Within one span up to `permits`
   * more than the limit may then pass for each process. At most 1 s; not with a concurrency policy. Reservations
   * 8 MiB at most, some 10 000 ids; what was fetched for more is lost to everybody.
   */
  lease?: { permits: number; for: Duration } | undefined;
}

export interface TakeOptions {
  /** Permits: a whole number from 0 to 2147483647; default 1. A cost of 0 takes nothing, and is refused only where blocked. */
  cost?: number | undefined;
  /** Fewer permits than the cost will do, down to so many. */
  atLeast?: number | undefined;
  /**
   * Counts once, however often the call with it is made within a minute; then it is sent again where a reply is lost. The
   * answer is that of the first call, if it was granted; MISMATCH where cost, `atLeast` or policies are others. PreparedStep anew
   * while the id is blocked, and after a reset. Let no client choose it freely: repeating is free.
   */
  requestId?: string | undefined;
  /**
   * Where what is counted is kept, for `takeAll`: keys of one tag lie in one slot of a cluster, so one step can change them
   * all. Counts under a tag are apart from those under another tag, and from those without one. One tag that all calls share
   * loads one node of the cluster with them; a tenant's or a user's name spreads them.
   */
  tag?: string | undefined;
  /** Other limits or spans for this call: as many policies, of the same names and kinds. They act at once. */
  policies?: readonly Policy[] | undefined;
  signal?: AbortSignal | undefined;
}

export interface AcquireOptions extends Omit<TakeOptions, "atLeast" | "requestId"> {
  /** How long to wait at most; default "10s". */
  wait?: Duration | undefined;
}

const MAX_COST = 2 ** 31 - 1;
const MAX_WAIT_MS = 2 ** 31 - 1;
const MAX_DENY_CACHE_MS = 100;
const MAX_LEASE_MS = 1000;
const MAX_POLICIES = 16;

/** Throws ARGUMENT for an option that is not known, or a wrong signal. */
export function checkCall(options: { signal?: AbortSignal }, known: readonly string[]): void {
  checkKnown(options, known);
  checkSignal(options.signal);
}

export interface LimiterSettings {
  onStoreError: "throw" | "allow" | "deny" | "local";
  localShare: number;
  denyCacheMs: number;
  lease: { permits: number; forMs: number } | undefined;
}

export function limiterSettings(options: LimiterOptions): LimiterSettings {
  checkKnown(options, ["name", "onStoreError", "localShare", "denyCache", "lease"]);
  const { name, onStoreError = "throw", localShare = 1, denyCache = 0 } = options;
  if (typeof name !== "string") throw argumentError("name", name, "a string");
  if (!["throw", "allow", "deny", "local"].includes(onStoreError))
    throw argumentError("onStoreError", onStoreError, '"throw", "allow", "deny" or "local"');
  if (typeof localShare !== "number" || !(localShare > 0 && localShare <= 1))
    throw argumentError("localShare", localShare, "a number above 0, at most 1");
  const denyCacheMs = durationMs("denyCache", denyCache, 0, MAX_DENY_CACHE_MS);
  return { onStoreError, localShare, denyCacheMs, lease: options.lease && leaseOf(options.lease) };
}

function leaseOf(lease: NonNullable<LimiterOptions["lease"]>): LimiterSettings["lease"] {
  checkKnown(lease, ["permits", "for"], "lease");
  if (lease.permits === 0) throw argumentError("lease.permits", 0, "a whole number of permits, 1 or more");
  return {
    permits: costOf(lease.permits, "lease.permits"),
    forMs: durationMs("lease.for", lease.for, 1, MAX_LEASE_MS),
  };
}

/** Throws ARGUMENT where they are not 1 to 16 policies with names of their own. */
function checkPolicies(policies: readonly Policy[]): readonly Policy[] {
  if (!Array.isArray(policies) || policies.length === 0 || policies.length > MAX_POLICIES)
    throw argumentError("policies", policies, `an array of 1 to ${MAX_POLICIES} policies`);
  for (const one of policies)
    if (typeof one?.kind !== "number")
      throw argumentError("policies", one, "made by fixedWindow, slidingWindow, leakyBucket, gcra or concurrency");
  if (new Set(policies.map(({ name }) => name)).size < policies.length)
    throw argumentError("policies", policies.map(({ name }) => name).join(", "), "policies with names of their own");
  return policies;
}

/** The same for all ids, or by id: then of the same names and kinds. */
export type PoliciesOf = readonly Policy[] | ((id: string) => readonly Policy[]);

/** The policies of an id; those that are the same for all are checked now. */
export function policiesFor(policies: PoliciesOf) {
  if (typeof policies === "function") return (id: string) => checkPolicies(policies(id));
  const fixed = Object.freeze([...checkPolicies(policies)]);
  return () => fixed;
}

export function checkPermit(permit: string): void {
  if (typeof permit !== "string" || !/^[0-9a-f]{32}$/.test(permit))
    throw argumentError("permit", permit, "a decision's permit");
}

/** Policies of one call in the place of the limiter's: of the same names and kinds, in their order. */
export function checkOverride(instead: readonly Policy[], own: readonly Policy[]): readonly Policy[] {
  checkPolicies(instead);
  if (instead.length !== own.length || instead.some((one, i) => one.name !== own[i].name || one.kind !== own[i].kind))
    throw argumentError(
      "policies",
      instead.map(({ name }) => name).join(", "),
      `${own.map(({ name }) => name).join(", ")}`,
    );
  return instead;
}

export function costOf(cost: number, argument = "cost"): number {
  if (!Number.isSafeInteger(cost) || cost < 0 || cost > MAX_COST)
    throw argumentError(argument, cost, `a whole number of permits from 0 to ${MAX_COST}`);
  return cost;
}

export function atLeastOf(atLeast: number, cost: number): number {
  if (!Number.isSafeInteger(atLeast) || atLeast < 1 || atLeast > cost)
    throw argumentError("atLeast", atLeast, `a whole number of permits from 1 to the cost, ${cost}`);
  return atLeast;
}

export function waitMsOf(wait: Duration): number {
  return durationMs("wait", wait, 0, MAX_WAIT_MS);
}
