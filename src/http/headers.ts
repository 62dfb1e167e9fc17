import { argumentError, checkKnown } from "../base/errors.ts";
import { isBytes } from "../base/realm.ts";
import { atSite } from "../base/site.ts";
import { type Clock, type Duration, durationMs } from "../base/time.ts";
import type { Decision, PolicyDecision } from "../limits/limiter/decision.ts";
import { checkDecision, isBlocked } from "./decision-check.ts";
import { sfBytes, sfInteger, sfString } from "./structured-field.ts";

/** The quota units that the draft registers. */
export type QuotaUnit = (typeof UNITS)[number];

const UNITS = ["requests", "content-bytes", "concurrent-requests"] as const;

/** Which header fields a response gets beside `RateLimit` and `RateLimit-Policy`. */
export interface RateLimitHeaderOptions {
  /**
   * Adds X-RateLimit-Limit, -Remaining and -Reset of the deciding policy. The reset is in seconds since 1970 ("unix" or
   * `true`, as GitHub and express-rate-limit send it) or in seconds from now ("delta").
   */
  legacy?: boolean | "unix" | "delta" | undefined;
  /** Names the owner of the quota (`pk`). Text is sent as UTF-8. It is not encrypted, so pass no secret. */
  partitionKey?: string | Uint8Array | undefined;
  /** Units of policies by their names. Default: concurrent-requests for a concurrency policy, requests for others. */
  units?: Readonly<Record<string, QuotaUnit>> | undefined;
  /** Adds a random time up to this to Retry-After, so that denied clients do not all return at one instant. */
  retryJitter?: Duration | undefined;
  /** Returns a number from 0 to below 1, for tests. Default Math.random. */
  random?: (() => number) | undefined;
  /** Ms since 1970, for `legacy: "unix"`. Default Date.now. */
  clock?: Clock | undefined;
}

/** Throws ARGUMENT. `of` is the name of the option whose value they are. */
export function checkHeaderOptions(options: RateLimitHeaderOptions, of?: string): void {
  checkKnown(options, ["legacy", "partitionKey", "units", "retryJitter", "random", "clock"], of);
  const { legacy = false, partitionKey, units = {}, retryJitter = 0 } = options;
  if (typeof legacy !== "boolean" && legacy !== "unix" && legacy !== "delta")
    throw argumentError("legacy", legacy, 'true, false, "unix" or "delta"');
  if (partitionKey !== undefined && typeof partitionKey !== "string" && !isBytes(partitionKey))
    throw argumentError("partitionKey", partitionKey, "a string or a Uint8Array");
  if (units === null || typeof units !== "object")
    throw argumentError("units", units, "units by the names of policies");
  for (const [name, unit] of Object.entries(units))
    if (!UNITS.includes(unit)) throw argumentError(`units.${name}`, unit, `one of ${UNITS.join(", ")}`);
  durationMs("retryJitter", retryJitter, 0);
  for (const name of ["random", "clock"] as const)
    if (options[name] !== undefined && typeof options[name] !== "function")
      throw argumentError(name, options[name], "a function that returns a number");
}

const CONCURRENT: QuotaUnit = "concurrent-requests";

/** Whole seconds, rounded up so that a client that waits this long has waited long enough. 0 only for no wait. */
const seconds = (ms: number) => (ms > 0 ? Math.max(Math.ceil(ms / 1000), 1) : 0);

/** The values of one policy in the fields. */
interface Quota {
  policy: PolicyDecision;
  unit: QuotaUnit;
  remaining: number;
  /** Time until more permits are available. Absent if it is unknown or never. */
  untilMs?: number;
}

/**
 * Returns the response header fields of a decision: RateLimit-Policy and RateLimit with one item for each policy, and
 * Retry-After if it is a denial. Windows and times are whole seconds, rounded up. Source:
 * draft-ietf-httpapi-ratelimit-headers-11.
 *
 * Shadow policies are omitted. A field without items is absent: a degraded decision may know no policy. Infinite times
 * are absent: a cost above the limit has no Retry-After. `t` is the time until all permits are free. For a policy that
 * denies, it is the time until the call would pass, which is never after Retry-After. Throws ARGUMENT.
 */
export function rateLimitHeaders(decision: Decision, options: RateLimitHeaderOptions = {}): Record<string, string> {
  return atSite("rateLimitHeaders", () => {
    checkDecision(decision);
    checkHeaderOptions(options);
    const quotas = quotasOf(decision, options.units ?? {});
    const pk = options.partitionKey === undefined ? "" : `;pk=${sfBytes(options.partitionKey)}`;
    const headers: Record<string, string> = {};
    if (quotas.length > 0) {
      headers["RateLimit-Policy"] = quotas.map((quota) => policyItem(quota) + pk).join(", ");
      headers.RateLimit = quotas.map((quota) => limitItem(quota) + pk).join(", ");
    }
    if (options.legacy) Object.assign(headers, legacyFields(decision, quotas, options));
    const retryMs =
      decision.retryAfterMs +
      durationMs("retryJitter", options.retryJitter ?? 0, 0) * (options.random ?? Math.random)();
    if (!decision.allowed && Number.isFinite(retryMs))
      headers["Retry-After"] = sfInteger(Math.max(seconds(retryMs), 1));
    return headers;
  });
}

function quotasOf(decision: Decision, units: Readonly<Record<string, QuotaUnit>>): Quota[] {
  const policies = decision.policies.filter((policy) => !policy.shadow && Number.isFinite(policy.limit));
  const blocked = isBlocked(decision);
  return policies.map((policy) => {
    const own = Object.hasOwn(units, policy.name) ? units[policy.name] : undefined;
    const unit = own ?? (policy.kind === "concurrency" ? CONCURRENT : "requests");
    const refused = blocked || !policy.allowed;
    const waitMs = Math.max(blocked ? decision.retryAfterMs : policy.retryAfterMs, 1);
    const untilMs = refused ? waitMs : policy.resetAfterMs;
    // No time is known for a call that never passes, and for permits that other calls hold.
    const timed = Number.isFinite(untilMs) && (refused || unit !== CONCURRENT);
    return { policy, unit, remaining: blocked ? 0 : policy.remaining, ...(timed ? { untilMs } : {}) };
  });
}

function policyItem({ policy, unit }: Quota): string {
  const item = `${sfString(policy.name)};q=${sfInteger(policy.limit)}`;
  const named = unit === "requests" ? item : `${item};qu=${sfString(unit)}`;
  const windowed = unit !== CONCURRENT && policy.spanMs > 0 && Number.isFinite(policy.spanMs);
  return windowed ? `${named};w=${sfInteger(seconds(policy.spanMs))}` : named;
}

function limitItem({ policy, remaining, untilMs }: Quota): string {
  const item = `${sfString(policy.name)};r=${sfInteger(remaining)}`;
  return untilMs === undefined ? item : `${item};t=${sfInteger(seconds(untilMs))}`;
}

function legacyFields(decision: Decision, quotas: Quota[], options: RateLimitHeaderOptions): Record<string, string> {
  const quota = quotas.find(({ policy }) => policy.name === decision.policy) ?? quotas[0];
  if (quota === undefined) return {};
  const fields: Record<string, string> = {
    "X-RateLimit-Limit": sfInteger(quota.policy.limit),
    "X-RateLimit-Remaining": sfInteger(quota.remaining),
  };
  if (quota.untilMs === undefined) return fields;
  const { resetAtMs, resetAfterMs } = quota.policy;
  const isDelta = options.legacy === "delta";
  // The end of a calendar window is exact, whatever the clock of this process says.
  const isExact = !isDelta && resetAtMs !== undefined && quota.untilMs === resetAfterMs;
  const atMs = isExact ? resetAtMs : (isDelta ? 0 : (options.clock ?? Date.now)()) + quota.untilMs;
  fields["X-RateLimit-Reset"] = sfInteger(seconds(atMs));
  return fields;
}
